import { type SttSettings, settingText } from './stt-settings.ts';

/** The key goes into a header; the SDK's way of putting it into the subprotocol too would only show it twice. */
export function sarvamHeaders(settings: SttSettings): Record<string, string> {
  return settings.apiKey === undefined ? {} : { 'api-subscription-key': settings.apiKey };
}

/** The hint that goes with the audio: the bot's own, else the terms it expects. */
export function sarvamPrompt(settings: SttSettings): string | undefined {
  const terms = settings.keyterms.join(', ');
  return settingText(settings, 'prompt') ?? (terms === '' ? undefined : terms);
}
