import fc from 'fast-check';
import t from 'tap';
import { type SpeechEvent, SpeechSegmenter } from '../../src/slot/listen/speech-segmenter.ts';
import { TurnWindow } from '../../src/slot/listen/turn-window.ts';

const WINDOW = 256;
const SEED = 20_261;
const RUNS = 300;

t.test('RT-02 speech opens after 160 ms at 0.6 and closes after 224 ms below 0.45', async (t) => {
  t.same(play([0.1, 0.1, ...times(5, 0.6)]), [
    { type: 'speech_start', atSample: 2 * WINDOW, confirmedAtSample: 7 * WINDOW },
  ]);
  t.same(play(times(4, 0.9)), [], 'four windows are 128 ms: too short');
  t.same(play(times(50, 0.59)), [], 'never reached 0.6');
  const open = times(10, 0.9);
  t.same(play([...open, ...times(6, 0.44)]).length, 1, '192 ms of silence do not close it');
  t.same(play([...open, ...times(7, 0.44)])[1], {
    type: 'speech_stop',
    atSample: 10 * WINDOW,
    confirmedAtSample: 17 * WINDOW,
  });
  t.same(play([...open, ...times(50, 0.46)]).length, 1, 'what is above 0.45 goes on being speech');
  t.same(
    play([...open, ...times(5, 0.1), 0.9, ...times(6, 0.1)]).length,
    1,
    'speech begins the silence anew',
  );
});

t.test('RT-02 one quiet window while speech begins is tolerated, two are not', async (t) => {
  t.same(play([0.9, 0.9, 0.1, 0.9, 0.9, 0.9]), [
    { type: 'speech_start', atSample: 0, confirmedAtSample: 6 * WINDOW },
  ]);
  t.same(play([0.9, 0.9, 0.1, 0.9, 0.1, 0.9, 0.9]), []);
});

t.test('R60 the vad keys of a bot move the limits', async (t) => {
  const config = { start_probability: 0.3, stop_probability: 0.2, start_ms: 64, stop_ms: 96 };
  t.same(
    play([0.3, 0.3, 0.25, 0.1, 0.1, 0.1], config).map((event) => [event.type, event.confirmedAtSample]),
    [
      ['speech_start', 2 * WINDOW],
      ['speech_stop', 6 * WINDOW],
    ],
  );
  const crossed = { start_probability: 0.5, stop_probability: 0.9 };
  t.same(
    play([...times(5, 0.5), ...times(20, 0.55)], crossed).length,
    1,
    'a stop above the start is lowered to it',
  );
});

t.test('RT-10 starts and stops alternate and indexes never go back, whatever is heard', async (t) => {
  const sound = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0.44, 0.45, 0.59, 0.6, 0.95),
  );
  fc.assert(
    fc.property(fc.array(sound, { maxLength: 300 }), (sounds) => {
      const events = play(sounds);
      let before = 0;
      events.forEach((event, i) => {
        const wanted = i % 2 === 0 ? 'speech_start' : 'speech_stop';
        if (event.type !== wanted) throw new Error(`event ${i} is ${event.type}`);
        if (event.atSample < before) throw new Error(`event ${i} goes back to ${event.atSample}`);
        if (event.confirmedAtSample < event.atSample) throw new Error(`event ${i} was certain before it was`);
        before = event.atSample;
      });
    }),
    { seed: SEED, numRuns: RUNS },
  );
  t.pass(`${RUNS} random courses, seed ${SEED}`);
});

t.test('RT-10 the way audio is chunked changes nothing', async (t) => {
  // Loudness stands for probability, so that the whole way from received chunks to events is walked.
  const listen = (audio: Int16Array, chunks: readonly number[]): SpeechEvent[] => {
    const ring = new TurnWindow();
    const segmenter = new SpeechSegmenter({});
    const window = new Int16Array(WINDOW);
    const events: SpeechEvent[] = [];
    let next = 0;
    for (let at = 0, i = 0; at < audio.length; i++) {
      const size = chunks[i % chunks.length] as number;
      ring.push(audio.subarray(at, at + size));
      at += size;
      for (; ring.copyTo(window, next); next += WINDOW) {
        const event = segmenter.push((window[0] as number) / 1000, next);
        if (event) events.push(event);
      }
    }
    return events;
  };
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ level: fc.integer({ min: 0, max: 1000 }), windows: fc.integer({ min: 1, max: 12 }) }),
        {
          minLength: 1,
          maxLength: 30,
        },
      ),
      fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }),
      (sounds, chunks) => {
        const audio = Int16Array.from(sounds.flatMap(({ level, windows }) => times(windows * WINDOW, level)));
        const whole = JSON.stringify(listen(audio, [160]));
        if (JSON.stringify(listen(audio, chunks)) !== whole) throw new Error(`chunks ${chunks} differ`);
      },
    ),
    { seed: SEED, numRuns: 100 },
  );
  t.pass(`100 random courses, seed ${SEED}`);
});

function play(sounds: readonly number[], config = {}): SpeechEvent[] {
  const segmenter = new SpeechSegmenter(config);
  const events: SpeechEvent[] = [];
  let at = 0;
  for (const sound of sounds) {
    const event = segmenter.push(sound, at);
    at += WINDOW;
    if (event) events.push(event);
  }
  return events;
}

function times<T>(n: number, value: T): T[] {
  return Array.from({ length: n }, () => value);
}
