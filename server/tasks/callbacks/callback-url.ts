import { invalid } from '../../lib/failure.ts';
import { isPrivateAddress } from '../../outbound/open-url.ts';
import type { Settings } from '../../settings/settings.ts';

const maxLength = 2048;

/**
 * Validates and normalizes a callback URL. Host names are checked at each delivery, when they are resolved; `localhost`
 * is refused here.
 *
 * @throws Failure 400 naming `field`
 */
export function checkCallbackUrl(
  url: string,
  field: string,
  { allowPrivate }: Settings['callbacks'],
): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw invalid(field, 'must be an http or https URL.');
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid(field, 'must not contain a user name or a password.');
  if (!allowPrivate && (isPrivateAddress(parsed.hostname) || /(^|\.)localhost\.?$/.test(parsed.hostname)))
    throw invalid(field, 'must lead to a public address, unless callbacks.allow_private is set.');
  parsed.hash = '';
  if (parsed.href.length > maxLength) throw invalid(field, `must have at most ${maxLength} characters.`);
  return parsed.href;
}
