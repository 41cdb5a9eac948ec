/**
 * What the bot says when a transfer has failed and its model has no words for it: nobody is left on a silent line. By
 * the first part of a BCP 47 tag.
 */
const LINES: Readonly<Record<string, string>> = {
  en: 'I am sorry, I could not put you through. How else can I help you?',
  hi: 'माफ़ कीजिए, कॉल ट्रांसफ़र नहीं हो सकी। मैं और कैसे मदद करूँ?',
  bn: 'দুঃখিত, কলটি স্থানান্তর করা যায়নি। আর কীভাবে সাহায্য করতে পারি?',
  gu: 'માફ કરશો, કૉલ ટ્રાન્સફર થઈ શક્યો નથી. બીજી શું મદદ કરું?',
  mr: 'माफ करा, कॉल जोडता आला नाही. मी आणखी काय मदत करू?',
  ta: 'மன்னிக்கவும், அழைப்பை மாற்ற முடியவில்லை. வேறு எப்படி உதவலாம்?',
  te: 'క్షమించండి, కాల్‌ను బదిలీ చేయలేకపోయాను. ఇంకా ఎలా సహాయం చేయగలను?',
  kn: 'ಕ್ಷಮಿಸಿ, ಕರೆಯನ್ನು ವರ್ಗಾಯಿಸಲು ಆಗಲಿಲ್ಲ. ಬೇರೆ ಹೇಗೆ ಸಹಾಯ ಮಾಡಲಿ?',
  es: 'Lo siento, no he podido pasarle la llamada. ¿En qué más puedo ayudarle?',
  fr: 'Je suis désolé, je n’ai pas pu vous transférer. Comment puis-je vous aider autrement ?',
  de: 'Es tut mir leid, ich konnte Sie nicht verbinden. Wie kann ich Ihnen sonst helfen?',
  it: 'Mi dispiace, non sono riuscito a trasferirla. Come altro posso aiutarla?',
  pt: 'Desculpe, não consegui transferir a ligação. Como posso ajudar?',
  nl: 'Het spijt me, het doorverbinden is niet gelukt. Hoe kan ik u verder helpen?',
};

/** In the language of the voice; English where it is not known. */
export function transferFailedLine(language: string | undefined): string {
  const primary = (language ?? '').toLowerCase().split('-')[0] ?? '';
  return (Object.hasOwn(LINES, primary) ? LINES[primary] : undefined) ?? (LINES.en as string);
}
