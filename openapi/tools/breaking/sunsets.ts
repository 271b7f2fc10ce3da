import { deref, isObject, type JsonObject, operationsOf, text } from '../document.ts';
import { keysOf, nodeAt } from './places.ts';

/** The announced end of a removed place. */
export interface Sunset {
  /** `YYYY-MM-DD`. The place may be removed after this day (UTC). */
  date: string;
  isOver: boolean;
}

/**
 * Reads `x-sunset` of a removed operation, parameter or field, or of all operations of a removed path. Undefined if its
 * removal was not announced.
 *
 * @param now epoch milliseconds
 */
export function sunsetOf(base: JsonObject, at: string, now: number): Sunset | undefined {
  const keys = keysOf(at);
  const node = deref(base, nodeAt(base, keys));
  const [area, path = ''] = keys;
  const isPath = area === 'paths' && keys.length === 2;
  const nodes = isPath ? operationsOf({ paths: { [path]: node } }).map((one) => one.node) : [node];
  const dates = nodes.map(({ 'x-sunset': sunset }) => (isObject(sunset) ? text(sunset.date) : ''));
  const date = dates.toSorted().at(-1);
  if (date === undefined || dates.includes('')) return undefined;
  return { date, isOver: new Date(now).toISOString().slice(0, date.length) > date };
}
