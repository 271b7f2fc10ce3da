import type { Channel } from '../channels/channel.ts';

const longest = 500;
const address = /:\/\/|\b\d{1,3}(\.\d{1,3}){3}\b/;

/**
 * A provider's sentence, when a client may read it. Undefined when it names an address, a host or a key: those
 * are the gateway's own affair.
 */
export function clientWords(words: unknown, channel: Channel): string | undefined {
  if (typeof words !== 'string' || words === '' || address.test(words)) return undefined;
  const { baseUrl, wsUrl, key } = channel.settings;
  const secrets = [new URL(baseUrl).hostname, new URL(wsUrl).hostname, key];
  if (secrets.some((secret) => secret !== '' && words.includes(secret))) return undefined;
  return words.length > longest ? `${words.slice(0, longest)}…` : words;
}

/** Whether a provider's code is about the gateway's own account, of which a client must not hear. */
export function aboutOurAccount(code: string): boolean {
  return /^(invalid_?api_?key|access_?denied|unauthorized|permission|arrearage|insufficient_?(user_)?quota)/i.test(
    code,
  );
}

/** Whether a provider's code means that it takes no more for now. */
export function isThrottling(code: string): boolean {
  return /^(throttling|rate_?limit|too_?many)/i.test(code);
}

/** Whether a provider's code blames the text or a parameter of the client. */
export function blamesClient(code: string): boolean {
  return /^(invalid|bad_?request|data_?inspection|unsupported|empty)/i.test(code);
}
