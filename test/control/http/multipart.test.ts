import fc from 'fast-check';
import t from 'tap';
import { readMultipart } from '../../../src/platform/http-server.ts';

t.test('a form of a browser is taken apart, byte for byte', async (t) => {
  const form = new FormData();
  form.set('name', 'आशा');
  form.set(
    'file',
    new File([new Uint8Array([0, 13, 10, 45, 45, 255])], '../../etc/passwd', { type: 'text/csv' }),
  );
  form.set('empty', '');
  const request = new Request('http://a/', { method: 'POST', body: form });
  const body = Buffer.from(await request.arrayBuffer());
  const parts = readMultipart(request.headers.get('content-type') ?? '', body);
  t.match(parts, [
    { name: 'name', filename: null },
    { name: 'file', filename: 'passwd', contentType: 'text/csv' },
    { name: 'empty', filename: null },
  ]);
  t.equal(parts[0]?.body.toString('utf8'), 'आशा');
  t.same([...(parts[1]?.body ?? [])], [0, 13, 10, 45, 45, 255]);
  t.equal(parts[2]?.body.length, 0);
});

t.test('whatever the parts hold, they come out as they went in', async () => {
  const boundary = 'b0undary';
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), async (contents) => {
      const pieces = contents.map((content, i) =>
        Buffer.concat([
          Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="p${i}"\r\n\r\n`),
          content,
          Buffer.from('\r\n'),
        ]),
      );
      const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
      const parts = readMultipart(`multipart/form-data; boundary=${boundary}`, body);
      return (
        parts.length === contents.length &&
        parts.every((part, i) => part.body.equals(Buffer.from(contents[i] ?? [])))
      );
    }),
    { seed: 7, numRuns: 200 },
  );
});

t.test('a broken form is refused and never hangs', async (t) => {
  const type = 'multipart/form-data; boundary=x';
  for (const body of [
    '',
    '--x',
    '--x\r\n',
    '--x\r\n\r\n',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nopen end',
    '--x\r\nContent-Disposition: attachment; name="a"\r\n\r\n1\r\n--x--',
    '--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--',
    '--xContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
    `--x\r\nContent-Disposition: form-data; name="a"; x="${'y'.repeat(9_000)}"\r\n\r\n1\r\n--x--`,
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(101).concat('--x--'),
  ]) {
    t.throws(() => readMultipart(type, Buffer.from(body)), { code: 'bad_request' }, body.slice(0, 60));
  }
  for (const wrong of [
    undefined,
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=',
  ]) {
    t.throws(() => readMultipart(wrong, Buffer.from('--x--')), { code: 'unsupported_media_type' });
  }
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('-', 'x', '\r', '\n', ':', 'a', '"'), maxLength: 80 }),
      async (text) => {
        try {
          readMultipart(type, Buffer.from(text));
          return true;
        } catch (error) {
          return (error as { code?: string }).code === 'bad_request';
        }
      },
    ),
    { seed: 11, numRuns: 500 },
  );
});
