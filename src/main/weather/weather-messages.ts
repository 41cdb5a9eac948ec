import type { ProviderOutcome, ProviderWeatherEntry } from '../../contracts/provider-weather.ts';
import type { MainToSlot } from '../../contracts/slot-messages.ts';
import { SLOT_MESSAGES_VERSION } from '../../contracts/versions.ts';
import type { WeatherTable } from './weather-table.ts';

/** What the weather needs of a slot process. */
interface WeatherSlot {
  readonly slotId: number;
  tell(message: MainToSlot): void;
}

/** A slot tells what it met; with an empty list it asks for what is known. */
export function hearWeather(
  table: WeatherTable,
  slot: WeatherSlot,
  outcomes: readonly ProviderOutcome[],
): void {
  if (outcomes.length === 0) tellWeather(slot, table.entries());
  else table.hear(slot.slotId, outcomes);
}

export function tellWeather(slot: WeatherSlot, providers: ProviderWeatherEntry[]): void {
  slot.tell({ v: SLOT_MESSAGES_VERSION, type: 'provider_weather', providers });
}
