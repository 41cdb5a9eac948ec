import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openTts } from '../../../src/providers/open-providers.ts';
import { startOpenAiSpeech } from '../../emulators/openai-speech.ts';
import { failureOf, hear, isToneOf, openFor, startVoice } from './vendors.ts';

const TEXT = 'One clause of some length to be spoken.';

t.test(
  'R8 openai: an answer that breaks off, stalls or is no PCM costs its clause and nothing else',
  async (t) => {
    const { emulator, tts, close } = await startVoice('openai');
    emulator.control.next({ stream: { cutAfterChunks: 2 } });
    const cut = await hear(tts, TEXT);
    t.match(failureOf(cut.error), { class: 'transient' });
    t.ok(cut.samples.length > 0 && isToneOf(cut.samples, TEXT, tts.sampleRate, 'part'));
    emulator.control.next({
      status: 429,
      body: { error: { code: 'insufficient_quota', message: 'no credit' } },
    });
    t.match(failureOf((await hear(tts, TEXT)).error), { class: 'quota', vendorCode: 'insufficient_quota' });
    emulator.control.next({ stream: { stallAfterChunks: 1 } });
    const stop = new AbortController();
    const stalled = await hear(tts, TEXT, {
      signal: stop.signal,
      onBlock: () => stop.abort(new Error('enough')),
    });
    t.match(stalled.error, { message: 'enough' });
    const long = `${'word '.repeat(1_000)}end`;
    t.equal((await hear(tts, long)).error, undefined, 'a text over 4096 characters goes in two requests');
    await close();

    const mp3 = await openFor('openai', await startOpenAiSpeech({ apiKey: null, contentType: 'audio/mpeg' }));
    t.match(failureOf((await hear(mp3.tts, TEXT)).error), { class: 'config' });
    await mp3.close();
    await t.rejects(openFor('openai', { ...emulator, apiKey: null }, { base_url: null }), {
      message: /^tts\.api_key is missing/,
    });
  },
);

t.test(
  'R8 openai: clauses share one connection, and one that the server just gave up costs no clause',
  async (t) => {
    let connections = 0;
    let requests = 0;
    const answer = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'audio/pcm', 'content-length': 480 });
      response.end(Buffer.alloc(480));
    };
    const server = createServer((request, response) => {
      requests += 1;
      request.resume();
      // The third request meets a server that closes its idle connection at that very moment.
      if (requests === 3) request.socket.destroy();
      else request.on('end', () => answer(response));
    });
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const tts = await openTts({ provider: 'openai', base_url: `http://127.0.0.1:${port}/v1` });
    await tts.warm?.();
    t.equal((await hear(tts, TEXT)).samples.length, 240);
    t.same([connections, requests], [1, 2]);
    t.equal((await hear(tts, TEXT)).samples.length, 240);
    t.same([connections, requests], [2, 4]);
    await tts.close();
    await new Promise((resolve) => server.close(resolve));
  },
);

t.test('R8 openai: a clause is one request with the settings of the bot', async (t) => {
  const { emulator, tts, close } = await startVoice('openai', {
    settings: { model: 'tts-1', voice: 'nova', speed: 1.5, instructions: 'Speak calmly.' },
  });
  t.equal(tts.sampleRate, 24_000);
  t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 24_000));
  t.same(emulator.log.of('in', 'request')[0]?.json, {
    model: 'tts-1',
    voice: 'nova',
    response_format: 'pcm',
    speed: 1.5,
    instructions: 'Speak calmly.',
    input: TEXT,
  });
  await t.rejects(openFor('openai', emulator, { speed: 5 }), { message: /^tts\.speed must be/ });
  await close();
});
