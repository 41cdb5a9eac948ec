import type { SttModels } from '../../stt/stt-models.ts';
import type { TtsModels } from '../../tts/tts-models.ts';
import { cloudProvider, type Vendor } from '../../vendor.ts';

const BASE_URL = 'wss://api.sarvam.ai';

/** In the bot's spelling; the two sockets spell Odia in two ways, and the client knows which. */
const HEARD_LANGUAGES = [
  ...['en', 'hi', 'bn', 'kn', 'ml', 'mr', 'or', 'pa', 'ta', 'te', 'gu', 'as', 'ur', 'ne', 'kok', 'ks', 'sd'],
  ...['sa', 'sat', 'mni', 'brx', 'mai', 'doi'],
].map((language) => `${language}-IN`);
const SPOKEN_LANGUAGES = ['bn', 'en', 'gu', 'hi', 'kn', 'ml', 'mr', 'od', 'pa', 'ta', 'te'].map(
  (language) => `${language}-IN`,
);

const SAARAS: SttModels = {
  provider: 'sarvam',
  account: 'sarvam',
  baseUrl: BASE_URL,
  defaultModel: 'saaras:v3-realtime',
  models: ['saaras:v3-realtime', 'saaras:v4', 'saaras:v3'],
  languages: ['auto', ...HEARD_LANGUAGES],
  sampleRates: [8_000, 16_000],
  isStreaming: true,
  isSilentUntilEnd: ({ endpoint, stream_type }) => endpoint === 'legacy' || stream_type === 'simulated',
  settings: {
    endpoint: { kind: 'choice', values: ['realtime', 'legacy'], fallback: 'realtime' },
    mode: {
      kind: 'choice',
      values: ['transcribe', 'translate', 'verbatim', 'translit', 'codemix'],
      fallback: 'transcribe',
    },
    stream_type: { kind: 'choice', values: ['fast', 'balanced', 'simulated'], fallback: 'balanced' },
    endpointing: { kind: 'choice', values: ['vad', 'manual'], fallback: 'vad' },
    threshold: { kind: 'number', minimum: 0, maximum: 1, fallback: null },
    prefix_padding_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: null, whole: true },
    silence_duration_ms: { kind: 'number', minimum: 50, maximum: 10_000, fallback: null, whole: true },
    min_speech_duration_ms: { kind: 'number', minimum: 0, maximum: 5_000, fallback: null, whole: true },
    high_vad_sensitivity: { kind: 'flag', fallback: false },
    prompt: { kind: 'text', maximumLength: 2_000 },
  },
};

const BULBUL: TtsModels = {
  provider: 'sarvam',
  baseUrl: BASE_URL,
  needsKey: true,
  defaultModel: 'bulbul:v3',
  models: [
    { name: 'bulbul:v3', takesLanguage: true, realtime: true },
    { name: 'bulbul:v4-flash', takesLanguage: true, realtime: true },
    { name: 'bulbul:v2', takesLanguage: true, realtime: true },
  ],
  defaultVoice: 'shubh',
  voices: {
    'bulbul:v3': names(`
      shubh aditya ritu priya neha rahul pooja rohan simran kavya amit dev ishita shreya ratan varun manan sumit roopa
      kabir aayan ashutosh advait anand tanya tarun sunny mani gokul vijay shruti suhani mohit kavitha rehan soham
      rupali
    `),
    'bulbul:v4-flash': v4FlashVoices(),
    'bulbul:v2': names('anushka manisha vidya arya abhilash karun hitesh'),
  },
  languages: SPOKEN_LANGUAGES,
  sampleRates: [8_000, 16_000, 22_050, 24_000],
  // `pace` and `temperature` are those of v3; what the other models have in their place stands in tts.ts.
  settings: {
    pace: { minimum: 0.5, maximum: 2, fallback: 1 },
    temperature: { minimum: 0.01, maximum: 1, fallback: 0.6 },
    pitch: { minimum: -0.75, maximum: 0.75, fallback: null },
    loudness: { minimum: 0.3, maximum: 3, fallback: null },
    min_buffer_size: { minimum: 1, maximum: 2_500, fallback: 50, whole: true },
    max_chunk_length: { minimum: 1, maximum: 2_500, fallback: 150, whole: true },
  },
};

export const sarvam: Vendor = {
  hosts: ['api.sarvam.ai'],
  accounts: ['sarvam'],
  // It documents no address that a key can be tried at without cost.
  probe: { url: 'https://api.sarvam.ai/', keyHeader: null },
  stt: [cloudProvider(SAARAS, async () => (await import('./stt.ts')).createSarvamStt)],
  tts: [cloudProvider(BULBUL, async () => (await import('./tts.ts')).createSarvamTts)],
};

function names(text: string): string[] {
  return text.trim().split(/\s+/);
}

/**
 * A person, the language (`enhi` is a mix of two) and a manner, as the vendor lists them; it adds some with every month.
 * The names of the older models are none of this one's.
 */
function v4FlashVoices(): string[] {
  return names(`
    bappa_bn_conversation bimal_bn_suspense roopa_bn_conversational
    aditi_en_stories amelia_en_conversational aparna_en_companion aparna_en_edtech ashwin_en_sports
    ashwin_en_sports_energetic chandrika_en_stories dev_en_conversational dev_en_recovery deven_en_conversation
    girish_en_devotional girish_en_documentary ishita_en_customer ishita_en_medical ishita_en_numbers
    ishita_en_social ishita_en_stories kalpit_en_edtech nachiket_en_ads neha_en_customer neha_en_latenight
    nupur_en_kids ojas_en_social payal_en_edtech ritu_en_edtech ritu_en_latenight ritu_en_medical ritu_en_reels
    rohan_en_recovery roopa_en_conversational rustom_en_suspense sanchita_en_companion sanchita_en_insurance
    sanchita_en_market sanchita_en_recovery sanchita_en_social sarang_en_narration shabana_en_edtech
    shalini_en_companion shalini_en_customer shubh_en_ads shubh_en_audiobook shubh_en_narration
    shubh_en_narration_gentle shubh_en_numbers shubh_en_recovery shubh_en_sports simran_en_ads
    simran_en_automobile simran_en_conversation simran_en_customer simran_en_edtech simran_en_edtech_bot
    simran_en_narration simran_en_recovery simran_en_sales simran_en_therapist sophia_en_conversational
    sunny_en_social varun_en_ads varun_en_suspense zarina_en_conversation
    ishita_enhi_companion ishita_enhi_customer ishita_enhi_customer_expressive sanchita_enhi_companion
    shalini_enhi_companion shalini_enhi_customer shubh_enhi_ads shubh_enhi_banking shubh_enhi_companion
    simran_enhi_banking_expressive simran_enhi_companion simran_enhi_customer sunny_enhi_customer
    bhavik_gu_conversation pooja_gu_conversational pooja_gu_customer
    aarti_hi_customer aayan_hi_conversational aditya_hi_conversational aditya_hi_sales advait_hi_character
    amit_hi_conversational anand_hi_documentary anand_hi_news aparna_hi_customer aparna_hi_kyc aryaman_hi_ads
    ashok_hi_character ashok_hi_news ashutosh_hi_conversational chaitra_hi_customer chhavi_hi_kids
    chirag_hi_social girish_hi_devotional ishita_hi_ads ishita_hi_ads_informal ishita_hi_banking
    ishita_hi_devotional ishita_hi_edtech ishita_hi_numbers ishita_hi_social kabir_hi_conversational
    kavya_hi_conversational kunal_hi_kids mahesh_hi_documentary manan_hi_conversational mani_hi_conversational
    mani_hi_devotional mohit_hi_conversational mukul_hi_ads mukul_hi_suspense nachiket_hi_devotional
    priya_hi_recovery rahul_hi_conversational ratan_hi_customer_expressive ratan_hi_devotional
    ratan_hi_documentary ratan_hi_latenight ratan_hi_latenight_warm ratan_hi_recovery ratan_hi_social
    ratan_hi_sports rehan_hi_social ritu_hi_ads_formal ritu_hi_ads_informal ritu_hi_banking ritu_hi_conversation
    ritu_hi_customer ritu_hi_customer_utility ritu_hi_customer_warm ritu_hi_edtech ritu_hi_edtech_bot
    ritu_hi_insurance ritu_hi_kids ritu_hi_medical ritu_hi_reels ritu_hi_sales ritu_hi_social
    ritu_hi_social_lively roopa_hi_companion roopa_hi_conversational roopa_hi_market roopa_hi_narration
    roopa_hi_recovery sanchita_hi_ads_formal sanchita_hi_ads_informal sanchita_hi_assistant sanchita_hi_banking
    sanchita_hi_edtech sanchita_hi_feedback sanchita_hi_interview sanchita_hi_kyc sanchita_hi_market
    sanchita_hi_romantic sanchita_hi_social sarika_hi_conversation shalini_hi_companion shalini_hi_social
    shilpa_hi_narration shreya_hi_conversational shreya_hi_news shruti_hi_edtech shubh_hi_ads shubh_hi_customer
    shubh_hi_devotional shubh_hi_ecomm shubh_hi_recovery shubh_hi_stories_dramatic shubh_hi_stories_mixed
    simran_hi_assistant simran_hi_automobile simran_hi_conversation simran_hi_latenight simran_hi_narration
    simran_hi_news simran_hi_news_breaking simran_hi_recovery simran_hi_sales simran_hi_social_energetic
    simran_hi_social_excited suchitra_hi_ecomm suhani_hi_social suman_hi_companion sumit_hi_conversational
    sunny_hi_ads sunny_hi_reels tanya_hi_narration tarun_hi_conversational tarun_hi_sales vaibhav_hi_social
    vandana_hi_ecomm vipul_hi_social
    chaitra_kn_conversation chaitra_kn_narration chetan_kn_conversation suchitra_kn_narration
    ishita_mr_conversational mrunal_mr_narration mukul_mr_stories neha_mr_narration nilesh_mr_conversation
    ritu_mr_insurance ritu_mr_narration rupali_mr_stories soham_mr_narration
    anand_pa_conversation anand_pa_customer harpreet_pa_narration jaspal_pa_banking
    gokul_ta_narration vetri_ta_ads vetri_ta_suspense vijay_ta_narration
    kavitha_te_conversation kavitha_te_narration pooja_te_conversation tarun_te_narration
  `);
}
