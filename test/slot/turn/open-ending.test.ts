import t from 'tap';
import { askedNumber, numberJudge } from '../../../src/slot/turn/half-number.ts';
import { type Ending, endingJudge } from '../../../src/slot/turn/open-ending.ts';
import { TurnWaits } from '../../../src/slot/turn/turn-waits.ts';

/** Those of languages but English and Hindi were written without a native reader. */
const ENDINGS: [language: string | undefined, text: string, ending: Ending][] = [
  ['en', 'I would like to book a', 'open'],
  ['en', 'Please send the invoice to my.', 'open'],
  ['en', 'I called you yesterday because', 'open'],
  ['en', 'yes but', 'open'],
  ['en', 'I need it by, um', 'open'],
  ['en', 'My name is', 'open'],
  ['en', 'Where do I log in', 'whole'],
  ['en', 'I think so.', 'whole'],
  ['en', 'Yes it is', 'whole'],
  ['en', 'Where does it come from', 'whole'],
  ['en', 'so that is', 'doubtful'],
  ['en', 'I want to pay for', 'doubtful'],
  ['en', 'What is this for?', 'whole'],
  ['en', 'The bill, please', 'whole'],
  ['en', 'No.', 'whole'],
  ['en', 'That is right.', 'whole'],
  ['en', '', 'whole'],
  [undefined, 'I want to cancel my', 'open'],
  ['sv', 'I want to cancel my', 'whole'],
  ['hi-IN', 'मुझे लोन चाहिए लेकिन', 'open'],
  ['hi-IN', 'मैंने पैसे भेजे थे क्योंकि', 'open'],
  ['hi-IN', 'मेरा नाम राजेश है', 'whole'],
  ['hi-IN', 'मुझे कुछ और', 'whole'],
  ['hi-IN', 'कल तक', 'whole'],
  ['hi-IN', 'मेरे खाते में', 'doubtful'],
  ['hi-IN', 'ये क्या?', 'whole'],
  ['hi-IN', 'हाँ', 'whole'],
  ['hi-IN', 'mujhe loan chahiye lekin', 'open'],
  ['hi-IN', 'mera account number hai', 'open'],
  ['hi-IN', 'mere account mein', 'doubtful'],
  ['hi-IN', 'main kal aaya tha par payment nahi hua and', 'open'],
  ['hi-IN', 'hum kal aaye the', 'whole'],
  ['hi-IN', 'traffic kaisa he', 'whole'],
  ['en', 'he came and then the', 'open'],
  ['mr', 'मला लोन पाहिजे आणि', 'open'],
  ['mr', 'ठीक आहे', 'whole'],
  ['bn', 'আমি টাকা দিয়েছি কিন্তু', 'open'],
  ['ta', 'எனக்கு ஒரு', 'open'],
  ['te', 'నాకు డబ్బు కావాలి కానీ', 'open'],
  ['gu', 'મને લોન જોઈએ છે અને', 'open'],
  ['kn', 'ನನಗೆ ಸಾಲ ಬೇಕು ಆದರೆ', 'open'],
  ['ml', 'എനിക്ക് ലോൺ വേണം പക്ഷേ', 'open'],
  ['pa', 'ਮੈਨੂੰ ਲੋਨ ਚਾਹੀਦਾ ਹੈ ਪਰ', 'open'],
  ['es-MX', 'quiero pagar la', 'open'],
  ['es', 'Sí', 'whole'],
  ['fr', 'je voudrais un', 'open'],
  ['fr', 'je ne sais pas', 'whole'],
  ['de', 'ich möchte meine', 'open'],
  ['de', 'Das weiß ich nicht.', 'whole'],
  ['it', 'vorrei pagare il', 'open'],
  ['pt', 'Não', 'whole'],
  ['nl', 'ik wil graag een', 'open'],
];

t.test('RT-04 the last words tell whether more is to come, in the language of the call', async (t) => {
  for (const [language, text, ending] of ENDINGS) {
    t.equal(endingJudge(language)(text), ending, `${language} "${text}"`);
  }
});

const ASKED: [line: string, lengths: number[] | null][] = [
  ['Please tell me your phone number.', [10]],
  ['अपना मोबाइल नंबर बताइए।', [10]],
  ['I have sent an OTP. What is it?', [4, 6]],
  ['Please say the six-digit code.', [6]],
  ['What are the last 4 digits of your card?', [4]],
  ['अपने कार्ड के आखिरी चार अंक बताइए', [4]],
  ['अपने नंबर के १० अंक बताइए', [10]],
  ['What is your account number?', []],
  ['What is your date of birth?', []],
  ['How can I help you?', null],
  ['Do you like pine trees?', null],
];

t.test('RT-82 the bot`s line tells how many digits it waits for', async (t) => {
  for (const [line, lengths] of ASKED) t.same(askedNumber(line)?.lengths ?? null, lengths, line);
  t.equal(askedNumber('What is your date of birth?')?.isDate, true);
});

const PHONE = { lengths: [10], isDate: false };
const OTP = { lengths: [4, 6], isDate: false };
const UNKNOWN = { lengths: [], isDate: false };
const BIRTH = { lengths: [], isDate: true };

const NUMBERS: [asked: typeof PHONE, language: string, text: string, ending: Ending | null][] = [
  [PHONE, 'en', 'nine eight seven six five', 'open'],
  [PHONE, 'en', 'It is 98765', 'open'],
  [PHONE, 'en', '98765 43210', 'whole'],
  [PHONE, 'en', '+91 98765 43210', 'whole'],
  [PHONE, 'en', 'nine eight double seven', 'open'],
  [PHONE, 'en', 'nine eight seven six five four three two double', 'open'],
  [PHONE, 'en', 'nine eight seven six five four three two double one', 'whole'],
  [PHONE, 'en', 'ninety eight seventy six fifty four thirty two ten', 'whole'],
  [PHONE, 'en', 'I do not have one', null],
  [PHONE, 'en', 'nine eight seven six five and', null],
  [PHONE, 'hi', 'नौ आठ सात छह पाँच', 'open'],
  [PHONE, 'hi', 'अट्ठानवे छिहत्तर चौवन बत्तीस दस', 'whole'],
  [PHONE, 'hi', 'nau aath saat six five', 'open'],
  [PHONE, 'hi', '९८७६५४३२१०', 'whole'],
  [PHONE, 'hi', 'OTP bhej do', null],
  [PHONE, 'ta', 'ஒன்பது எட்டு ஏழு', 'open'],
  [OTP, 'en', 'four five one', 'open'],
  [OTP, 'en', '4 5 1 9', 'doubtful'],
  [OTP, 'en', '45192', 'open'],
  [OTP, 'en', '451927', 'whole'],
  [UNKNOWN, 'en', 'My account number is four five', 'open'],
  [UNKNOWN, 'en', 'four five one nine two seven', 'doubtful'],
  [BIRTH, 'en', 'the fifth of March', 'open'],
  [BIRTH, 'en', 'March 5', 'open'],
  [BIRTH, 'en', 'fifth of March nineteen', 'doubtful'],
  [BIRTH, 'en', 'fifth of March nineteen eighty five', 'whole'],
  [BIRTH, 'en', '05/03', 'doubtful'],
  [BIRTH, 'en', '5/3', 'open'],
  [BIRTH, 'en', '05/03/1985', 'whole'],
  [BIRTH, 'hi', 'पाँच मार्च', 'open'],
  [BIRTH, 'hi', 'पाँच मार्च 1985', 'whole'],
];

t.test('RT-82 half a number that was asked for is half an answer', async (t) => {
  for (const [asked, language, text, ending] of NUMBERS) {
    t.equal(numberJudge(language)(text, asked), ending, `${language} "${text}" of ${asked.lengths}`);
  }
  t.doesNotThrow(() => numberJudge('en')('nine '.repeat(20_000), PHONE));
});

t.test('RT-82 words and acoustics together set the wait', async (t) => {
  const waits = new TurnWaits({}, 'en', () => undefined);
  const ms = (text: string, probability: number | null) => waits.wordSamples(text, probability) / 8;
  t.equal(ms('I want to cancel my subscription', 0.6), 0, 'whole words never wait');
  t.equal(ms('I want to cancel my', 0.99), 1_600, 'open ones to the forced end, however sure the model is');
  t.equal(ms('I want to cancel my', null), 1_600);
  t.equal(ms('what is it for', 0.97), 700, 'doubtful ones as long as silence alone where the model is sure');
  t.equal(ms('what is it for', 0.5), 1_600, 'and to the forced end where it is not');
  const between = ms('what is it for', 0.8);
  t.ok(between > 700 && between < 1_600, `${between} ms`);
  t.equal(ms('what is it for', null), 0, 'where silence has decided it has been waited for');
  t.equal(ms('nine eight seven', 0.9), 0, 'nobody has asked for a number');
  t.equal(ms('my phone number is nine eight seven', 0.9), 1_600, 'but it may be announced');
  waits.botSaid('What is your phone number?');
  t.equal(ms('nine eight seven', 0.9), 2_500, 'the forced end of what was asked');
  t.equal(ms('nine eight seven six five four three two one zero', 0.9), 0);
  waits.botSaid('Is that right?');
  t.equal(ms('yes but', 0.9), 1_600, 'a yes that goes on has the time of any answer');
  const deaf = new TurnWaits({ question_aware: false }, 'en', () => undefined);
  deaf.botSaid('What is your phone number?');
  t.equal(deaf.wordSamples('nine eight seven', 0.9), 0);
});
