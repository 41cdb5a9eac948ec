import type { ProviderConfig } from '../../contracts/runtime-config.ts';

/**
 * What a bot says when a provider fails it, in the language of its voice (RT-59). `rescue` bridges the time until the
 * answer comes, `again` asks the caller to repeat what was lost, `farewell` ends a call that cannot go on.
 */
export interface RescueLines {
  rescue: string;
  again: string;
  farewell: string;
}

/** By the first part of a BCP 47 tag. */
const LINES: Readonly<Record<string, RescueLines>> = {
  en: {
    rescue: 'Sorry, I have a technical problem. One moment, please.',
    again: 'Sorry, something went wrong on my side. Could you say that again?',
    farewell: 'I am sorry, I cannot go on because of a technical problem. Please call again later. Goodbye.',
  },
  hi: {
    rescue: 'माफ़ कीजिए, एक तकनीकी समस्या है। कृपया एक क्षण रुकिए।',
    again: 'माफ़ कीजिए, आवाज़ ठीक से नहीं आई। क्या आप फिर से कहेंगे?',
    farewell: 'माफ़ कीजिए, तकनीकी समस्या के कारण बात जारी नहीं रखी जा सकती। कृपया बाद में फिर कॉल करें। नमस्ते।',
  },
  bn: {
    rescue: 'দুঃখিত, একটি প্রযুক্তিগত সমস্যা হয়েছে। অনুগ্রহ করে একটু অপেক্ষা করুন।',
    again: 'দুঃখিত, আমি শুনতে পাইনি। অনুগ্রহ করে আবার বলবেন?',
    farewell: 'দুঃখিত, প্রযুক্তিগত সমস্যার কারণে কথা চালিয়ে যেতে পারছি না। অনুগ্রহ করে পরে আবার কল করুন। ধন্যবাদ।',
  },
  gu: {
    rescue: 'માફ કરશો, એક તકનીકી સમસ્યા છે. કૃપા કરીને એક ક્ષણ રાહ જુઓ.',
    again: 'માફ કરશો, અવાજ બરાબર ન આવ્યો. કૃપા કરીને ફરી કહેશો?',
    farewell: 'માફ કરશો, તકનીકી સમસ્યાને કારણે વાત ચાલુ રાખી શકાતી નથી. કૃપા કરીને પછી ફરી કૉલ કરો. નમસ્તે.',
  },
  mr: {
    rescue: 'माफ करा, एक तांत्रिक अडचण आली आहे. कृपया एक क्षण थांबा.',
    again: 'माफ करा, मला ऐकू आले नाही. कृपया पुन्हा सांगाल का?',
    farewell: 'माफ करा, तांत्रिक अडचणीमुळे बोलणे पुढे चालू ठेवता येत नाही. कृपया नंतर पुन्हा कॉल करा. नमस्कार.',
  },
  ta: {
    rescue: 'மன்னிக்கவும், ஒரு தொழில்நுட்பச் சிக்கல். தயவுசெய்து ஒரு நிமிடம் காத்திருங்கள்.',
    again: 'மன்னிக்கவும், எனக்குக் கேட்கவில்லை. தயவுசெய்து மீண்டும் சொல்ல முடியுமா?',
    farewell: 'மன்னிக்கவும், தொழில்நுட்பச் சிக்கலால் தொடர முடியவில்லை. தயவுசெய்து பிறகு மீண்டும் அழைக்கவும். நன்றி.',
  },
  te: {
    rescue: 'క్షమించండి, ఒక సాంకేతిక సమస్య వచ్చింది. దయచేసి ఒక్క క్షణం ఆగండి.',
    again: 'క్షమించండి, నాకు వినిపించలేదు. దయచేసి మళ్లీ చెప్పగలరా?',
    farewell: 'క్షమించండి, సాంకేతిక సమస్య వల్ల కొనసాగించలేకపోతున్నాను. దయచేసి తర్వాత మళ్లీ కాల్ చేయండి. నమస్కారం.',
  },
  es: {
    rescue: 'Disculpe, tengo un problema técnico. Un momento, por favor.',
    again: 'Disculpe, algo ha fallado por mi parte. ¿Puede repetirlo?',
    farewell:
      'Lo siento, no puedo continuar por un problema técnico. Por favor, llame de nuevo más tarde. Adiós.',
  },
  fr: {
    rescue: 'Excusez-moi, j’ai un problème technique. Un instant, s’il vous plaît.',
    again: 'Excusez-moi, quelque chose n’a pas fonctionné de mon côté. Pouvez-vous répéter ?',
    farewell:
      'Veuillez m’excuser, un problème technique m’empêche de continuer. Merci de rappeler plus tard. Au revoir.',
  },
  de: {
    rescue: 'Entschuldigung, ich habe ein technisches Problem. Einen Moment, bitte.',
    again: 'Entschuldigung, bei mir ist etwas schiefgegangen. Können Sie das bitte noch einmal sagen?',
    farewell:
      'Es tut mir leid, wegen eines technischen Problems kann ich nicht weitersprechen. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
  },
  it: {
    rescue: 'Mi scusi, ho un problema tecnico. Un momento, per favore.',
    again: 'Mi scusi, qualcosa è andato storto da parte mia. Può ripetere?',
    farewell: 'Mi dispiace, un problema tecnico mi impedisce di continuare. Richiami più tardi. Arrivederci.',
  },
  pt: {
    rescue: 'Desculpe, estou com um problema técnico. Um momento, por favor.',
    again: 'Desculpe, algo deu errado do meu lado. Pode repetir?',
    farewell:
      'Desculpe, não posso continuar por causa de um problema técnico. Por favor, ligue mais tarde. Até logo.',
  },
  nl: {
    rescue: 'Sorry, ik heb een technisch probleem. Een ogenblik, alstublieft.',
    again: 'Sorry, er ging iets mis aan mijn kant. Kunt u dat herhalen?',
    farewell: 'Het spijt me, door een technisch probleem kan ik niet verder. Bel later nog eens. Tot ziens.',
  },
};

const ENGLISH = LINES.en as RescueLines;

/** What of a bot, or of the config of a call, decides what it says then. */
export interface RescueSource {
  tts: ProviderConfig;
  stt: ProviderConfig;
  rescue_line?: string | null;
}

/** Of the voice, else of the ears; undefined where neither says. */
export function spokenLanguage(source: RescueSource): string | undefined {
  return source.tts.language ?? source.stt.language;
}

/** The lines of a bot: its own bridging line where it has one, else by language; English where none is known. */
export function rescueLines(source: RescueSource): RescueLines {
  const language = spokenLanguage(source);
  const ownLine = source.rescue_line;
  const primary = (language ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  const lines = Object.hasOwn(LINES, primary) ? (LINES[primary] ?? ENGLISH) : ENGLISH;
  return ownLine ? { ...lines, rescue: ownLine } : lines;
}
