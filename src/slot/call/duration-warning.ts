import { type RescueSource, spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';

/** Said before the longest duration of a call is over (RT-24), by the first part of the language tag. */
const LINES: Readonly<Record<string, string>> = {
  en: 'Please note that this call will end shortly.',
  hi: 'कृपया ध्यान दें, यह कॉल थोड़ी देर में समाप्त हो जाएगी।',
  bn: 'অনুগ্রহ করে মনে রাখুন, এই কলটি শীঘ্রই শেষ হবে।',
  gu: 'કૃપા કરીને નોંધ લો, આ કૉલ થોડી વારમાં પૂરો થશે.',
  mr: 'कृपया लक्षात घ्या, हा कॉल लवकरच संपेल.',
  ta: 'இந்த அழைப்பு விரைவில் முடிவடையும் என்பதைக் கவனிக்கவும்.',
  te: 'ఈ కాల్ త్వరలో ముగుస్తుందని దయచేసి గమనించండి.',
  kn: 'ಈ ಕರೆ ಶೀಘ್ರದಲ್ಲೇ ಮುಗಿಯುತ್ತದೆ ಎಂಬುದನ್ನು ದಯವಿಟ್ಟು ಗಮನಿಸಿ.',
  es: 'Tenga en cuenta que esta llamada terminará en breve.',
  fr: 'Veuillez noter que cet appel va bientôt se terminer.',
  de: 'Bitte beachten Sie, dass dieser Anruf in Kürze endet.',
  it: 'La informo che questa chiamata terminerà a breve.',
  pt: 'Por favor, note que esta chamada terminará em breve.',
  nl: 'Let op: dit gesprek wordt zo dadelijk beëindigd.',
};

/** In the language of the bot's voice; English where no line is known. */
export function durationWarning(source: RescueSource): string {
  const primary = (spokenLanguage(source) ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  return (Object.hasOwn(LINES, primary) ? LINES[primary] : LINES.en) as string;
}
