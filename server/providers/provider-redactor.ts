import { isIP, isIPv6 } from 'node:net';
import type { Channel } from '../channels/channel.ts';
import type { ChannelResponse } from '../channels/failover.ts';
import { parseJson } from '../lib/json.ts';
import { isPrivateAddress } from '../outbound/open-url.ts';

const mask = '***';
const maxLength = 64 * 1024;
/** A shorter key would match ordinary words. */
const minKeyLength = 6;

const maxCodeLength = 200;
/** Control characters except tab and line breaks, and bidirectional controls. */
const unprintable = /[\p{Cc}--[\t\n\r]]|\p{Bidi_Control}/gv;

/** Top-level domains that no name of a field, file or model ends with. */
const hostEndings =
  'com|net|org|io|cn|ai|cloud|dev|app|eu|de|fr|uk|us|jp|kr|ru|sg|hk|tw|co|gov|edu|' +
  'internal|intern|local|localdomain|lan|intranet|corp|home|svc|cluster|example|test|invalid|localhost';

/** Names that resolve only in a private network. */
const privateName =
  /(^|\.)(internal|intern|local|localdomain|lan|intranet|corp|home|svc|cluster|localhost)$/i;

/** Hosts, addresses and keys. The name of each group is a `Kind`. */
const sensitivePattern = new RegExp(
  [
    // A URL is matched as a whole, because it may be the client's.
    /(?<url>\b(?!asset:)[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>`{}|\\^\u0080-\uffff]+)/,
    /(?<bearer>\bbearer\s+[\w.~+/=*-]{8,})/,
    /(?<named>\b(?:api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|token|secret|passw(?:or)?d|pwd|credentials?|signature|authorization)\b["']?\s?[:=]\s?["']?[^\s"',;&]{6,})/,
    /(?<prefixed>\b[sprak]k[-_][\w*.-]{8,}|\b(?:key|token|secret)[-_][a-z0-9]{16,})/,
    /(?<token>\beyJ[\w-]{8,512}(?:\.[\w-]{1,2048}){1,2}|\b(?:AKIA|ASIA|LTAI)[a-z0-9]{12,}\b|\b[a-z0-9+_-]{40,})/,
    /(?<ipv6>(?<![\w:.])\[?(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4})(?:%\w+)?\]?(?::\d{1,5})?)/,
    /(?<ipv4>\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5})?)/,
    // A name without dots is a host only in some contexts.
    /(?<machine>\blocalhost\b(?::\d{1,5})?|\b[a-z][a-z0-9]{0,30}-[a-z0-9-]{0,62}:\d{2,5}\b|(?<=\b(?:to|at|host|from|via|server|node|peer|upstream)[ =:]{1,2})[a-z][a-z0-9_-]{0,62}:\d{2,5}\b)/,
    new RegExp(
      `(?<host>\\b(?:[a-z0-9_-]{1,63}\\.){1,8}(?:${hostEndings})\\b(?![\\w-]|\\.\\w)(?::\\d{1,5})?)`,
    ),
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

/** Name of a key before its value. */
const keyName = /^.*?[:=]|^bearer\s/i;

type Kind = 'url' | 'bearer' | 'named' | 'prefixed' | 'token' | 'ipv6' | 'ipv4' | 'machine' | 'host';

/** Masks hosts, addresses and keys in a provider's text for a client. Hosts in the client's request stay. */
export class ProviderRedactor {
  readonly #key: string;
  /** The channel's own hosts. Masked even if the client guessed one. */
  readonly #hosts: readonly string[];
  readonly #request: unknown;
  #requestText: string | undefined;

  /** `request` is the client's request, or the part of it that names hosts. */
  constructor({ settings, hosts }: Pick<Channel, 'settings' | 'hosts'>, request?: unknown) {
    this.#key = settings.key.length < minKeyLength ? '' : settings.key;
    this.#hosts = hosts;
    this.#request = request;
  }

  /** Redacts a text and cuts it off after `max` characters. */
  redact(text: string, max = maxLength): string {
    return this.#redact(text, false).slice(0, max);
  }

  /** Redacts an error code and removes control characters, so that it fits into one log line. */
  redactCode(code: string, max = maxCodeLength): string {
    return this.redact(code)
      .replaceAll(/\p{Cc}/gu, '')
      .slice(0, max);
  }

  /** Redacts the strings in JSON or JSON lines. All other bytes stay unchanged. */
  redactJson(bytes: Buffer): Buffer {
    return mapStrings(bytes, (text) => this.#redact(text, false).slice(0, text.length));
  }

  /** Like `redactJson`, but keeps public URLs of other hosts, such as help links, for native routes. */
  redactNativeJson(bytes: Buffer): Buffer {
    return mapStrings(bytes, (text) => this.#redact(text, true).slice(0, text.length));
  }

  #redact(original: string, keepPublic: boolean): string {
    let text = original.slice(0, maxLength).replaceAll(unprintable, '');
    if (this.#key !== '') text = text.replaceAll(this.#key, mask);
    for (const host of this.#hosts) text = text.replaceAll(hostPattern(host), mask);
    return text.replaceAll(sensitivePattern, (found, ...rest) =>
      this.#redactMatch(found, kindOf(rest.at(-1)), keepPublic),
    );
  }

  #redactMatch(found: string, kind: Kind, keepPublic: boolean): string {
    switch (kind) {
      case 'url': {
        // Punctuation at the end does not belong to the URL.
        const url = found.replace(/[.,;:!?)\]]+$/, '');
        const isPublic = keepPublic && this.#isPublicLink(url);
        return this.#maskHost(url, URL.parse(url)?.hostname ?? '', isPublic) + found.slice(url.length);
      }
      case 'ipv6': {
        const address = found.replace(/^\[|\]?(?::\d+)?$|%.*$/g, '');
        const whole = isIPv6(address) ? address : found.replace(/^\[|\].*$|%.*$/g, '');
        if (!isIPv6(whole) || !/[0-9a-f]/i.test(whole)) return found;
        return this.#maskHost(found, whole, keepPublic && !isPrivateAddress(whole));
      }
      case 'ipv4': {
        const [address = ''] = found.split(':');
        if (isIP(address) === 0) return found;
        return this.#maskHost(found, address, keepPublic && !isPrivateAddress(address));
      }
      case 'machine':
      case 'host': {
        const host = found.replace(/:\d+$/, '');
        return this.#maskHost(found, host, kind === 'host' && keepPublic && isPublicHost(host));
      }
      case 'token':
        // An id has one case. A random key has both cases and digits.
        return /[a-z]/.test(found) && /[A-Z]/.test(found) && /\d/.test(found) ? mask : found;
      default:
        // A value without letters is a count of tokens, one without digits is prose.
        return /\*|\d/.test(found) && /[a-z]/i.test(found.replace(keyName, '')) ? mask : found;
    }
  }

  /** Whether a text is an https URL of a public host without credentials, signature or key. */
  #isPublicLink(text: string): boolean {
    const url = URL.parse(text);
    if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
    if (!isPublicHost(url.hostname)) return false;
    const rest = url.pathname + url.search + url.hash;
    return this.#redact(rest, true) === rest;
  }

  #maskHost(found: string, host: string, isPublic: boolean): string {
    this.#requestText ??= stringsOf(this.#request).join('\n').toLowerCase();
    const isInRequest = host !== '' && this.#requestText.includes(host.toLowerCase());
    return isInRequest || isPublic ? found : mask;
  }
}

/** Whether a host may be outside of the provider's private network. */
function isPublicHost(host: string): boolean {
  return host.includes('.') && !host.includes(mask) && !privateName.test(host) && !isPrivateAddress(host);
}

function mapStrings(bytes: Buffer, redact: (text: string) => string): Buffer {
  const text = bytes.toString('utf8');
  const result = text.replace(/"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"/g, (literal) => {
    const original = parseJson(literal) as string | undefined;
    const redacted = original === undefined ? undefined : redact(original);
    return redacted === original ? literal : JSON.stringify(redacted);
  });
  return result === text ? bytes : Buffer.from(result);
}

function hostPattern(host: string): RegExp {
  const name = host.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w-])(?:[a-z0-9_-]{1,63}\.){0,6}${name}(?![\w-])(?::\d{1,5})?`, 'gi');
}

function kindOf(groups: Record<Kind, string | undefined>): Kind {
  for (const [kind, found] of Object.entries(groups)) if (found !== undefined) return kind as Kind;
  throw new Error('every alternative is a group');
}

/** Builds the redactor for the response to a client's request. */
export function redactorFor({ channel, sent }: ChannelResponse): ProviderRedactor {
  return new ProviderRedactor(channel, sent);
}

/** A longer string is media, not a URL. */
const maxStringLength = 8_192;
const maxStrings = 2_000;

function stringsOf(value: unknown): string[] {
  const waiting = [value];
  const strings: string[] = [];
  for (let seen = 0; seen < waiting.length; seen += 1) {
    const next = waiting[seen];
    if (typeof next === 'string' && next.length <= maxStringLength) strings.push(next);
    else if (typeof next === 'object' && next !== null) {
      waiting.push(...Object.values(next).slice(0, Math.max(0, maxStrings - waiting.length)));
    }
  }
  return strings;
}

const maxHosts = 20;

/** Collects the hosts of the URLs in a request, for messages that arrive after the request is discarded. */
export function hostsIn(request: unknown): readonly string[] {
  const hosts = stringsOf(request).flatMap((one) =>
    /^https?:/i.test(one) ? [URL.parse(one)?.hostname ?? ''] : [],
  );
  return [...new Set(hosts)].filter((host) => host !== '').slice(0, maxHosts);
}
