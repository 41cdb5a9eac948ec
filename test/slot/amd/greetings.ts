/** What answers a telephone, with its label: words, the voice that says them, and whether a beep follows. */
export interface Greeting {
  label: 'person' | 'mailbox' | 'announcement' | 'assistant';
  text: string;
  voice: string;
  beepHz?: number;
  /** Said after a pause, by the same voice. */
  then?: string;
}

const person = (text: string, voice: string, then?: string): Greeting => ({
  label: 'person',
  text,
  voice,
  ...(then ? { then } : {}),
});
const mailbox = (text: string, voice: string, beepHz?: number): Greeting => ({
  label: 'mailbox',
  text,
  voice,
  ...(beepHz ? { beepHz } : {}),
});

export const PERSONS: readonly Greeting[] = [
  person('Hello?', 'en'),
  person('Hello, who is this?', 'en+f2'),
  person('Yes?', 'en-us'),
  person('Hi, Meera speaking.', 'en+f3'),
  person('Good morning, Sharma and Sons, how can I help you?', 'en+m3'),
  person('Yes, tell me.', 'en', 'I am listening.'),
  person('Hello. Hello? Can you hear me?', 'en+m5'),
  person('I am not available right now, please call back in the evening.', 'en-us', 'Okay?'),
  person('He is not here, do you want to leave a message?', 'en+f4'),
  person('Sorry, I am driving. Who is it?', 'en+m1', 'Who?'),
  person('हेलो?', 'hi'),
  person('हाँ जी, बोलिए।', 'hi+f2'),
  person('नमस्ते, कौन बोल रहा है?', 'hi+m3'),
  person('जी, बताइए।', 'hi'),
  person('हाँ, मैं राजेश बोल रहा हूँ।', 'hi+m1', 'बोलिए।'),
  person('हेलो, कौन? आवाज़ नहीं आ रही है।', 'hi+f4'),
  person('अभी व्यस्त हूँ, बाद में कॉल कीजिए।', 'hi'),
  person('गलत नंबर है।', 'hi+m5'),
  person('वो घर पर नहीं हैं।', 'hi+f3', 'आप कौन?'),
  person('हाँ हाँ, सुन रहा हूँ।', 'hi+m3'),
];

export const MACHINES: readonly Greeting[] = [
  mailbox(
    'Hi, this is Sam. I cannot take your call right now. Please leave a message after the tone.',
    'en',
    1_000,
  ),
  mailbox(
    'You have reached the voicemail of nine eight two zero. Please record your message after the beep.',
    'en+f2',
    850,
  ),
  mailbox(
    'The person you are calling is not available. Please leave your message at the tone.',
    'en-us',
    1_400,
  ),
  mailbox('Hey, it is Priya. Leave your name and number and I will get back to you.', 'en+f3', 620),
  mailbox('Your call has been forwarded to an automatic voice message system.', 'en-us', 1_000),
  mailbox(
    'Thank you for calling Sharma and Sons. Our office is closed now. Please leave a message.',
    'en+m3',
    800,
  ),
  mailbox(
    'Hello. You have reached Arun. I am away from my phone. I will call you back as soon as I can.',
    'en+m1',
    950,
  ),
  mailbox('Welcome to the mailbox of flat number twelve.', 'en', 440),
  mailbox(
    'Sorry I missed your call. When you have finished recording, hang up or press hash for more options.',
    'en+f4',
  ),
  mailbox('', 'en', 1_000),
  mailbox('नमस्ते, मैं अभी उपलब्ध नहीं हूँ। कृपया बीप के बाद अपना संदेश छोड़ें।', 'hi', 1_000),
  mailbox('आप वॉइसमेल पर पहुँच गए हैं। कृपया अपना संदेश रिकॉर्ड करें।', 'hi+f2', 900),
  mailbox('मैं अभी फोन नहीं उठा सकता। टोन के बाद मैसेज छोड़ दीजिए।', 'hi+m3', 1_200),
  mailbox(
    'शर्मा परिवार में आपका स्वागत है। हम अभी घर पर नहीं हैं, कृपया अपना नाम बताएँ, हम बाद में कॉल करेंगे।',
    'hi',
    1_000,
  ),
  mailbox('कृपया अपना सन्देश रिकॉर्ड कीजिए और अपना नंबर भी बताइए।', 'hi+f4'),
  {
    label: 'announcement',
    text: 'The number you have dialled is currently switched off. Please try again later.',
    voice: 'en+f3',
  },
  {
    label: 'announcement',
    text: 'The subscriber you are calling is not reachable at the moment.',
    voice: 'en+f2',
  },
  {
    label: 'announcement',
    text: 'आपके द्वारा डायल किया गया नंबर अभी स्विच ऑफ है। कृपया थोड़ी देर बाद प्रयास करें।',
    voice: 'hi+f2',
  },
  { label: 'announcement', text: 'आप जिस व्यक्ति को कॉल कर रहे हैं वह अभी व्यस्त है।', voice: 'hi+f3' },
  { label: 'announcement', text: 'यह नंबर नेटवर्क क्षेत्र से बाहर है।', voice: 'hi+f4' },
];

export const ASSISTANTS: readonly Greeting[] = [
  {
    label: 'assistant',
    text: 'Hi, if you record your name and reason for calling, I will see if this person is available.',
    voice: 'en-us',
  },
  {
    label: 'assistant',
    text: 'The person you are calling is using a screening service. Please say your name and why you are calling.',
    voice: 'en+f2',
  },
  { label: 'assistant', text: 'कृपया अपना नाम और कॉल करने का कारण बताइए।', voice: 'hi+f2' },
];
