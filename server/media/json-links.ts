import { JsonScanner } from './json-scanner.ts';

const colon = 0x3a;
/** Longest string that is held until its end, in bytes. URLs are shorter. */
const maxHeldBytes = 16 * 1024;
/** Longest field name that is reported, in bytes. */
const maxNameBytes = 64;

/**
 * Replaces URLs in JSON, or in events with JSON, while it is forwarded. All other bytes stay unchanged. Only a string
 * that may be a URL is held until its end, so audio is forwarded at once.
 */
export class JsonLinks {
  readonly #replace: (url: string, field: string) => string;
  readonly #scanner = new JsonScanner();
  /** Copy of the current string's bytes in earlier chunks, while it may be a URL or a field name. */
  #started: Buffer[] = [];
  #startedBytes = 0;
  /** The bytes in `#started` are not sent yet. */
  #isHeld = false;
  /** The last string. It is a field name if a colon follows. */
  #last = '';
  #field = '';

  /** `replace` returns the replacement for a URL. `field` is the name of the field that holds the URL or its list. */
  constructor(replace: (url: string, field: string) => string) {
    this.#replace = replace;
  }

  /** Returns the bytes to send. Copies the bytes that it holds. */
  write(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    /** Index of the first byte that is neither in `out` nor held. */
    let unsent = 0;
    for (const { isString, from, to, isEnd } of this.#scanner.runs(chunk)) {
      if (!isString) {
        if (hasColon(chunk, from, to)) this.#field = this.#last;
        continue;
      }
      const mayBeUrl = this.#isHeld || (this.#startedBytes === 0 && to > from && startsLikeUrl(chunk[from]));
      const run = chunk.subarray(from, to);
      if (isEnd) {
        const content = this.#started.length === 0 ? run : Buffer.concat([...this.#started, run]);
        const replacement = mayBeUrl ? this.#replacementFor(content) : undefined;
        if (this.#isHeld || replacement !== undefined) {
          out.push(chunk.subarray(unsent, from), replacement ?? content);
          unsent = to;
        }
        this.#last = this.#startedBytes + run.length <= maxNameBytes ? content.toString('latin1') : '';
        this.#started = [];
        this.#startedBytes = 0;
        this.#isHeld = false;
        continue;
      }
      this.#startedBytes += run.length;
      if (mayBeUrl || this.#startedBytes <= maxNameBytes) this.#started.push(Buffer.from(run));
      if (!mayBeUrl) continue;
      out.push(chunk.subarray(unsent, from));
      unsent = to;
      this.#isHeld = true;
      if (this.#startedBytes > maxHeldBytes) out.push(...this.end());
    }
    out.push(chunk.subarray(unsent));
    return out.filter(({ length }) => length > 0);
  }

  /** Returns the bytes that are still held. */
  end(): Buffer[] {
    const held = this.#isHeld ? this.#started : [];
    this.#started = [];
    this.#isHeld = false;
    return held;
  }

  /** Undefined if the string is not a URL, or stays unchanged. */
  #replacementFor(content: Buffer): Buffer | undefined {
    const url = parseUrl(content);
    if (url === undefined) return undefined;
    const replacement = this.#replace(url, this.#field);
    return replacement === url ? undefined : Buffer.from(JSON.stringify(replacement).slice(1, -1));
  }
}

function hasColon(chunk: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (chunk[at] === colon) return true;
  return false;
}

/** Whether a string starts with an `h` or an escape, which may be any character. */
function startsLikeUrl(first: number | undefined): boolean {
  return first === 0x68 || first === 0x48 || first === 0x5c;
}

function parseUrl(content: Buffer): string | undefined {
  try {
    const text = JSON.parse(`"${content.toString('utf8')}"`) as string;
    return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
