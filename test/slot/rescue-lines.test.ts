import t from 'tap';
import { rescueLines } from '../../src/providers/spoken-lines/rescue-lines.ts';

t.test('RT-59 the lines are in the language of the voice, and a bot may bring its own', async (t) => {
  const stt = { provider: 'deepgram', language: 'fr' };
  const of = (language: string | undefined, own?: string) =>
    rescueLines({
      tts: { provider: 'cartesia', ...(language ? { language } : {}) },
      stt,
      ...(own ? { rescue_line: own } : {}),
    });
  t.match(of('en-IN').rescue, /technical problem/);
  t.match(of('hi-IN').rescue, /तकनीकी/);
  t.match(of('de').farewell, /Wiederhören/);
  t.match(of(undefined).rescue, /problème technique/, 'the ears know a language too');
  t.match(of('xx').rescue, /technical problem/, 'English where no line is known');
  t.equal(of('hi', 'Wait.').rescue, 'Wait.');
  t.match(of('hi', 'Wait.').farewell, /नमस्ते/);
  t.match(of('de').goodbye, /Wiederhören/);
  t.match(of('es').connecting, /Le paso/);
});
