/**
 * What a caller hears who waits for a person, by the first part of a BCP 47 tag. `wait` comes before the queue where the
 * bot has no line of its own for it, `nobody` before the hang-up.
 */
interface HandoffLines {
  wait: string;
  comfort: string;
  /** `{n}` is the place in the queue. */
  position: string;
  nobody: string;
}

const LINES: Readonly<Record<string, HandoffLines>> = {
  en: {
    wait: 'I am connecting you to a colleague. Please stay on the line.',
    comfort: 'Thank you for waiting. Please stay on the line.',
    position: 'You are number {n} in line.',
    nobody: 'I am sorry, nobody is free to talk to you right now. Please call again later. Goodbye.',
  },
  hi: {
    wait: 'मैं आपको हमारे साथी से जोड़ती हूँ। कृपया लाइन पर बने रहिए।',
    comfort: 'प्रतीक्षा के लिए धन्यवाद। कृपया लाइन पर बने रहिए।',
    position: 'कतार में आपका नंबर {n} है।',
    nobody: 'माफ़ कीजिए, अभी कोई साथी उपलब्ध नहीं है। कृपया बाद में फिर कॉल करें। नमस्ते।',
  },
  bn: {
    wait: 'আপনাকে একজন সহকর্মীর সঙ্গে যুক্ত করছি। অনুগ্রহ করে লাইনে থাকুন।',
    comfort: 'অপেক্ষা করার জন্য ধন্যবাদ। অনুগ্রহ করে লাইনে থাকুন।',
    position: 'সারিতে আপনার নম্বর {n}।',
    nobody: 'দুঃখিত, এই মুহূর্তে কেউ কথা বলার জন্য নেই। অনুগ্রহ করে পরে আবার কল করুন। ধন্যবাদ।',
  },
  gu: {
    wait: 'તમને અમારા સાથી સાથે જોડું છું. કૃપા કરીને લાઇન પર રહો.',
    comfort: 'રાહ જોવા બદલ આભાર. કૃપા કરીને લાઇન પર રહો.',
    position: 'કતારમાં તમારો નંબર {n} છે.',
    nobody: 'માફ કરશો, અત્યારે કોઈ ઉપલબ્ધ નથી. કૃપા કરીને પછી ફરી કૉલ કરો. નમસ્તે.',
  },
  mr: {
    wait: 'तुम्हाला आमच्या सहकाऱ्याशी जोडते. कृपया लाइनवर राहा.',
    comfort: 'थांबल्याबद्दल धन्यवाद. कृपया लाइनवर राहा.',
    position: 'रांगेत तुमचा क्रमांक {n} आहे.',
    nobody: 'माफ करा, आत्ता कोणी उपलब्ध नाही. कृपया नंतर पुन्हा कॉल करा. नमस्कार.',
  },
  ta: {
    wait: 'உங்களை எங்கள் உதவியாளருடன் இணைக்கிறேன். தயவுசெய்து இணைப்பில் இருங்கள்.',
    comfort: 'காத்திருப்பதற்கு நன்றி. தயவுசெய்து இணைப்பில் இருங்கள்.',
    position: 'வரிசையில் உங்கள் எண் {n}.',
    nobody: 'மன்னிக்கவும், இப்போது யாரும் இல்லை. தயவுசெய்து பிறகு மீண்டும் அழைக்கவும். நன்றி.',
  },
  te: {
    wait: 'మిమ్మల్ని మా సహోద్యోగికి కలుపుతున్నాను. దయచేసి లైన్‌లో ఉండండి.',
    comfort: 'వేచి ఉన్నందుకు ధన్యవాదాలు. దయచేసి లైన్‌లో ఉండండి.',
    position: 'వరుసలో మీ సంఖ్య {n}.',
    nobody: 'క్షమించండి, ప్రస్తుతం ఎవరూ అందుబాటులో లేరు. దయచేసి తర్వాత మళ్లీ కాల్ చేయండి. నమస్కారం.',
  },
  kn: {
    wait: 'ನಿಮ್ಮನ್ನು ನಮ್ಮ ಸಹೋದ್ಯೋಗಿಗೆ ಸಂಪರ್ಕಿಸುತ್ತಿದ್ದೇನೆ. ದಯವಿಟ್ಟು ಲೈನ್‌ನಲ್ಲಿ ಇರಿ.',
    comfort: 'ಕಾಯುತ್ತಿರುವುದಕ್ಕೆ ಧನ್ಯವಾದಗಳು. ದಯವಿಟ್ಟು ಲೈನ್‌ನಲ್ಲಿ ಇರಿ.',
    position: 'ಸಾಲಿನಲ್ಲಿ ನಿಮ್ಮ ಸಂಖ್ಯೆ {n}.',
    nobody: 'ಕ್ಷಮಿಸಿ, ಈಗ ಯಾರೂ ಲಭ್ಯವಿಲ್ಲ. ದಯವಿಟ್ಟು ನಂತರ ಮತ್ತೆ ಕರೆ ಮಾಡಿ. ನಮಸ್ಕಾರ.',
  },
  es: {
    wait: 'Le paso con un compañero. Por favor, no cuelgue.',
    comfort: 'Gracias por esperar. Por favor, no cuelgue.',
    position: 'Es usted el número {n} en la cola.',
    nobody: 'Lo siento, ahora mismo nadie puede atenderle. Por favor, llame más tarde. Adiós.',
  },
  fr: {
    wait: 'Je vous passe un collègue. Restez en ligne, s’il vous plaît.',
    comfort: 'Merci de patienter. Restez en ligne, s’il vous plaît.',
    position: 'Vous êtes en position {n} dans la file.',
    nobody:
      'Je suis désolé, personne ne peut vous répondre pour le moment. Merci de rappeler plus tard. Au revoir.',
  },
  de: {
    wait: 'Ich verbinde Sie mit einer Kollegin. Bitte bleiben Sie am Apparat.',
    comfort: 'Danke, dass Sie warten. Bitte bleiben Sie am Apparat.',
    position: 'Sie sind Nummer {n} in der Warteschlange.',
    nobody:
      'Es tut mir leid, im Moment ist niemand frei. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
  },
  it: {
    wait: 'La metto in contatto con un collega. Resti in linea, per favore.',
    comfort: 'Grazie per l’attesa. Resti in linea, per favore.',
    position: 'Lei è il numero {n} in coda.',
    nobody: 'Mi dispiace, al momento nessuno è libero. Richiami più tardi. Arrivederci.',
  },
  pt: {
    wait: 'Vou passar a ligação a um colega. Por favor, aguarde em linha.',
    comfort: 'Obrigado por aguardar. Por favor, continue em linha.',
    position: 'O seu lugar na fila é o número {n}.',
    nobody: 'Desculpe, de momento ninguém pode atender. Por favor, ligue mais tarde. Até logo.',
  },
  nl: {
    wait: 'Ik verbind u door met een collega. Blijft u aan de lijn, alstublieft.',
    comfort: 'Bedankt voor het wachten. Blijft u aan de lijn, alstublieft.',
    position: 'U bent nummer {n} in de wachtrij.',
    nobody: 'Het spijt me, er is nu niemand vrij. Belt u later nog eens. Tot ziens.',
  },
};

/** In the language of the voice; English where it is not known. */
export function handoffLine(
  language: string | undefined,
  line: keyof HandoffLines,
  position?: number,
): string {
  const primary = (language ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  const lines = (Object.hasOwn(LINES, primary) ? LINES[primary] : undefined) ?? (LINES.en as HandoffLines);
  return lines[line].replace('{n}', String(position ?? ''));
}
