import t from 'tap';
import { runControl } from '../../harness/control.ts';

const run = await runControl();
t.teardown(() => run.stop());

t.test('the documentation page and all that it loads come from the plane itself', async (t) => {
  const page = await fetch(run.url('/api/v1/docs'));
  t.equal(page.status, 200);
  t.match(page.headers.get('content-type'), /^text\/html/);
  const html = await page.text();
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '');
  t.ok(links.length >= 4);
  for (const link of links.filter((one) => one !== 'data:,')) {
    t.match(link, /^\/api\/v1\//, 'a path of this server');
    const part = await fetch(run.url(link));
    t.equal(part.status, 200, link);
    t.ok((await part.arrayBuffer()).byteLength > 100, link);
  }
});

t.test('its policy lets it run its own scripts and ask its own origin, and nothing else', async (t) => {
  const page = await fetch(run.url('/api/v1/docs'));
  const policy = page.headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources.join(' ')];
    }),
  );
  t.equal(directives.get('default-src'), "'none'");
  t.equal(directives.get('script-src'), "'self'");
  t.equal(directives.get('style-src'), "'self'");
  t.equal(directives.get('connect-src'), "'self'");
  t.equal(directives.get('frame-ancestors'), "'none'");
  t.notMatch(policy, /unsafe|http:|https:|\*/);
  t.notMatch(await page.text(), /<script>|<style>|\son[a-z]+=/, 'nothing stands inline');
});

t.test('what the page loads has the type that it is used as', async (t) => {
  for (const [path, type] of [
    ['/api/v1/docs/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/api/v1/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/api/v1/docs/start.js', 'text/javascript; charset=utf-8'],
  ] as const) {
    const answer = await fetch(run.url(path));
    t.equal(answer.headers.get('content-type'), type);
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    await answer.arrayBuffer();
  }
  t.equal((await fetch(run.url('/api/v1/docs/package.json'))).status, 404, 'no other file of the viewer');
});
