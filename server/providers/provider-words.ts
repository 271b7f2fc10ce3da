import { isIP, isIPv6 } from 'node:net';
import type { Channel } from '../channels/channel.ts';
import type { ChannelResponse } from '../channels/failover.ts';
import { isPrivateAddress } from '../outbound/open-url.ts';

/** Stands where a provider named something of its own. */
const hidden = '***';
/** Characters of a provider's words that are looked at; more are cut off. */
const maxLength = 64 * 1024;
/** Shorter keys would be found in ordinary words. */
const minKeyLength = 6;

/** Characters of a code that are kept. */
const maxCodeLength = 200;
/** Control characters other than tab and line breaks, and those that change the direction of text. */
const unprintable = /[\p{Cc}--[\t\n\r]]|\p{Bidi_Control}/gv;

/** Endings of host names that no field, file or model has. */
const endings =
  'com|net|org|io|cn|ai|cloud|dev|app|eu|de|fr|uk|us|jp|kr|ru|sg|hk|tw|co|gov|edu|' +
  'internal|intern|local|localdomain|lan|intranet|corp|home|svc|cluster|example|test|invalid|localhost';

/** Names that only a private network resolves. */
const privateName =
  /(^|\.)(internal|intern|local|localdomain|lan|intranet|corp|home|svc|cluster|localhost)$/i;

/** What providers call their own: each kind is the name of a group. */
const ownings = new RegExp(
  [
    // As long as an address is one, it is looked at as a whole: it may be the client's.
    /(?<url>\b(?!asset:)[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>`{}|\\^\u0080-\uffff]+)/,
    /(?<bearer>\bbearer\s+[\w.~+/=*-]{8,})/,
    /(?<named>\b(?:api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|token|secret|passw(?:or)?d|pwd|credentials?|signature|authorization)\b["']?\s?[:=]\s?["']?[^\s"',;&]{6,})/,
    /(?<prefixed>\b[sprak]k[-_][\w*.-]{8,}|\b(?:key|token|secret)[-_][a-z0-9]{16,})/,
    /(?<token>\beyJ[\w-]{8,512}(?:\.[\w-]{1,2048}){1,2}|\b(?:AKIA|ASIA|LTAI)[a-z0-9]{12,}\b|\b[a-z0-9+_-]{40,})/,
    /(?<ipv6>(?<![\w:.])\[?(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4})(?:%\w+)?\]?(?::\d{1,5})?)/,
    /(?<ipv4>\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5})?)/,
    // A name without dots is a host only by what stands around it.
    /(?<machine>\blocalhost\b(?::\d{1,5})?|\b[a-z][a-z0-9]{0,30}-[a-z0-9-]{0,62}:\d{2,5}\b|(?<=\b(?:to|at|host|from|via|server|node|peer|upstream)[ =:]{1,2})[a-z][a-z0-9_-]{0,62}:\d{2,5}\b)/,
    new RegExp(`(?<host>\\b(?:[a-z0-9_-]{1,63}\\.){1,8}(?:${endings})\\b(?![\\w-]|\\.\\w)(?::\\d{1,5})?)`),
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

type Kind = 'url' | 'bearer' | 'named' | 'prefixed' | 'token' | 'ipv6' | 'ipv4' | 'machine' | 'host';

/**
 * Masks what a client may not read of a provider's words: hosts and addresses, the gateway's key, and anything else that
 * looks like a key. Hosts that the client itself named stay.
 */
export class ProviderWords {
  readonly #key: string;
  /** Hosts of the channel itself; nobody is reported that he guessed one. */
  readonly #hosts: readonly string[];
  readonly #sent: unknown;
  #sentText: string | undefined;

  /** `sent` is what the client asked for, or the part of it that names hosts. */
  constructor({ settings, hosts }: Pick<Channel, 'settings' | 'hosts'>, sent?: unknown) {
    this.#key = settings.key.length < minKeyLength ? '' : settings.key;
    this.#hosts = hosts;
    this.#sent = sent;
  }

  /** The masked words, at most `max` characters of them. */
  text(words: string, max = maxLength): string {
    return this.#masked(words, false).slice(0, max);
  }

  /** A provider's code, masked and without any control character, so that it can stand in one line of a log. */
  code(code: string, max = maxCodeLength): string {
    return this.text(code)
      .replaceAll(/\p{Cc}/gu, '')
      .slice(0, max);
  }

  /** A JSON text, or several in lines, with its strings masked. All else stays as it is, byte for byte. */
  json(bytes: Buffer): Buffer {
    return maskStrings(bytes, (words) => this.#masked(words, false).slice(0, words.length));
  }

  /**
   * The same for a native route, which passes rejections on unchanged: public addresses of other hosts, such as help
   * links, stay. The channel's own hosts, private addresses and keys are masked.
   */
  nativeJson(bytes: Buffer): Buffer {
    return maskStrings(bytes, (words) => this.#masked(words, true).slice(0, words.length));
  }

  #masked(words: string, keepPublic: boolean): string {
    let text = words.slice(0, maxLength).replaceAll(unprintable, '');
    if (this.#key !== '') text = text.replaceAll(this.#key, hidden);
    for (const host of this.#hosts) text = text.replaceAll(ownName(host), hidden);
    return text.replaceAll(ownings, (found, ...rest) => this.#judged(found, kindOf(rest.at(-1)), keepPublic));
  }

  #judged(found: string, kind: Kind, keepPublic: boolean): string {
    switch (kind) {
      case 'url': {
        // What ends the sentence does not belong to the address.
        const address = found.replace(/[.,;:!?)\]]+$/, '');
        const shown =
          this.#isSent(URL.parse(address)?.hostname ?? '') || (keepPublic && this.#isPublicLink(address));
        return (shown ? address : hidden) + found.slice(address.length);
      }
      case 'ipv6': {
        const address = found.replace(/^\[|\]?(?::\d+)?$|%.*$/g, '');
        const whole = isIPv6(address) ? address : found.replace(/^\[|\].*$|%.*$/g, '');
        if (!isIPv6(whole) || !/[0-9a-f]/i.test(whole) || this.#isSent(whole)) return found;
        return keepPublic && !isPrivateAddress(whole) ? found : hidden;
      }
      case 'ipv4': {
        const [address = ''] = found.split(':');
        if (isIP(address) === 0 || this.#isSent(address)) return found;
        return keepPublic && !isPrivateAddress(address) ? found : hidden;
      }
      case 'machine':
        return this.#isSent(found.replace(/:\d+$/, '')) ? found : hidden;
      case 'host': {
        const host = found.replace(/:\d+$/, '');
        return this.#isSent(host) || (keepPublic && isPublicHost(host)) ? found : hidden;
      }
      case 'token':
        // Ids are of one case; what is random has all there is.
        return /[a-z]/.test(found) && /[A-Z]/.test(found) && /\d/.test(found) ? hidden : found;
      default:
        // Without letters it is a count of tokens, without digits a sentence about keys.
        return /\*|\d/.test(found) && /[a-z]/i.test(valueOf(found)) ? hidden : found;
    }
  }

  /** Whether an address is an https one of a public host, without credentials, signature or key. */
  #isPublicLink(address: string): boolean {
    const url = URL.parse(address);
    if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
    if (!isPublicHost(url.hostname)) return false;
    const rest = url.pathname + url.search + url.hash;
    return this.#masked(rest, true) === rest;
  }

  #isSent(host: string): boolean {
    this.#sentText ??= stringsOf(this.#sent).join('\n').toLowerCase();
    return host !== '' && this.#sentText.includes(host.toLowerCase());
  }
}

/** Whether a name or address may be that of a host outside of the provider's private network. */
function isPublicHost(host: string): boolean {
  return host.includes('.') && !host.includes(hidden) && !privateName.test(host) && !isPrivateAddress(host);
}

/** A copy of a JSON text with its strings masked. */
function maskStrings(bytes: Buffer, mask: (words: string) => string): Buffer {
  const text = bytes.toString('utf8');
  const masked = text.replace(/"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"/g, (literal) => {
    const words = parsed(literal);
    const fit = words === undefined ? undefined : mask(words);
    return fit === words ? literal : JSON.stringify(fit);
  });
  return masked === text ? bytes : Buffer.from(masked);
}

/** A host by its own name, whatever stands before it in the name, with its port. */
function ownName(host: string): RegExp {
  const name = host.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w-])(?:[a-z0-9_-]{1,63}\.){0,6}${name}(?![\w-])(?::\d{1,5})?`, 'gi');
}

function kindOf(groups: Record<Kind, string | undefined>): Kind {
  for (const [kind, found] of Object.entries(groups)) if (found !== undefined) return kind as Kind;
  throw new Error('every alternative is a group');
}

function parsed(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** What a client may read of an answer to what it sent. */
export function wordsOf({ channel, sent }: ChannelResponse): ProviderWords {
  return new ProviderWords(channel, sent);
}

/** What follows the name of a key. */
function valueOf(found: string): string {
  return found.replace(/^.*?[:=]|^bearer\s/i, '');
}

/** Strings beyond this are media and no addresses. */
const maxStringLength = 8_192;
const maxStrings = 2_000;

/** The shorter strings of a value. */
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

/** The hosts of the addresses in a request, for the words that come when the request is no longer there. */
export function hostsIn(request: unknown): readonly string[] {
  const hosts = stringsOf(request).flatMap((one) =>
    /^https?:/i.test(one) ? [URL.parse(one)?.hostname ?? ''] : [],
  );
  return [...new Set(hosts)].filter((host) => host !== '').slice(0, maxHosts);
}
