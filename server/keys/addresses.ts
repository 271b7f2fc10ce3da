import type { IncomingMessage } from 'node:http';
import { invalid } from '../lib/failure.ts';
import { type AddressTest, isRange } from '../settings/address-ranges.ts';

const maxAddresses = 100;

/**
 * Parses the addresses and ranges of `allow_ips`, one per line. Returns null when there are none.
 *
 * @throws Failure 400 with the invalid line
 */
export function readAllowIps(text: string): string[] | null {
  const lines = text.split(/[\n\r]/).map((line) => line.trim());
  const ranges = [...new Set(lines.filter((line) => line !== ''))];
  if (ranges.length > maxAddresses)
    throw invalid('allow_ips', `must have at most ${maxAddresses} addresses.`);
  const wrong = ranges.find((range) => !isRange(range));
  if (wrong !== undefined)
    throw invalid('allow_ips', `"${wrong.slice(0, 60)}" is not an IP address or a range such as 10.0.0.0/8.`);
  return ranges.length === 0 ? null : ranges;
}

/**
 * Returns the address that a request comes from. Behind trusted proxies it is the last address in `x-forwarded-for` that
 * is not a trusted proxy, because the client can forge everything before it.
 */
export function clientAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  isTrusted: AddressTest,
): string {
  let address = socket.remoteAddress ?? '';
  if (!isTrusted(address)) return address;
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  do {
    const before = forwarded.pop()?.trim() ?? '';
    if (before === '') break;
    address = before;
  } while (isTrusted(address));
  return address;
}
