import { isObject } from '../../../openapi/tools/document.ts';

const mask = '***';

/** Names of fields, parameters and headers whose values are secret. */
const secretName =
  '(?:api[-_]?key|x-api-key|key|secret|client_secret|password|passwd|access_token|refresh_token|id_token|auth_token|vendor_token|token|signature|sig|x-amz-signature|x-amz-security-token|x-amz-credential|session|credential)';

/** Secrets that are recognized by their form or their place. The first group is printed. */
const patterns: readonly RegExp[] = [
  // Keys, webhook secrets and JSON Web Tokens.
  /\b(sk-|whsec_)[\w+/=-]{10,}/g,
  /()\beyJ[\w-]{8,}\.[\w-]*\.?[\w-]*/g,
  /(\bopenai-insecure-api-key\.)[^\s"',]+/gi,
  // Headers. The command for curl has a variable in place of the key.
  /(\b(?:Bearer|Basic) +)(?!\$UNIGATE_API_KEY|sk-wrong\b)[^\s"',;]+/gi,
  /(\b(?:x-api-key|cookie|set-cookie|proxy-authorization): *)(?!\$UNIGATE_API_KEY|sk-wrong\b)[^"'\n]+/gi,
  // The user and password of a URL.
  /(\b(?:https?|wss?):\/\/)[^\s/"'@]+(?=@)/gi,
  // Parameters of a URL and parts of a form.
  new RegExp(String.raw`((?<![\w$-])${secretName}=)[^\s&"'<#;]+`, 'gi'),
  // Fields of JSON, also of JSON in a string and of JSON that is truncated.
  new RegExp(String.raw`((?<![\w-])${secretName}\\*"\s*:\s*\\*")[^"\\]+`, 'gi'),
];

/** Names of response fields whose values are collected. */
const secretField = /^(key|api_?key|secret|vendor_token|access_token)$/i;

/** Number of characters of a known secret that are masked wherever they occur. */
const prefixLength = 10;

/** The secrets of a run: its key, the keys that it creates, and those that responses contain. */
export class Secrets {
  readonly #known = new Set<string>();
  #pattern: RegExp | undefined;

  constructor(secrets: readonly (string | undefined)[]) {
    for (const one of secrets) if (one !== undefined) this.add(one);
  }

  add(secret: string): void {
    if (secret === '' || this.#known.has(secret)) return;
    this.#known.add(secret);
    this.#pattern = undefined;
  }

  /** Adds the secrets in the fields of a JSON value, at any depth. A hint such as `sk-***abcd` is no secret. */
  collect(value: unknown): void {
    if (Array.isArray(value)) for (const one of value) this.collect(one);
    if (!isObject(value)) return;
    for (const [name, one] of Object.entries(value)) {
      if (typeof one !== 'string') this.collect(one);
      else if (secretField.test(name) && one.length >= prefixLength && !/\*|…|\.\.\./.test(one))
        this.add(one);
    }
  }

  /** Replaces every secret in a text with `***`. */
  mask(text: string): string {
    this.#pattern ??= this.#knownPattern();
    const known = this.#pattern === undefined ? text : text.replace(this.#pattern, mask);
    return patterns.reduce((masked, pattern) => masked.replace(pattern, `$1${mask}`), known);
  }

  /** Matches known secrets as they are, escaped for JSON, a URL or a shell, and truncated. */
  #knownPattern(): RegExp | undefined {
    const alternatives = [...this.#known].flatMap((secret) => {
      const forms = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        new URLSearchParams({ a: secret }).toString().slice(2),
        secret.replaceAll("'", "'\\''"),
      ].map(escaped);
      // An excerpt may end in the middle of a secret.
      const start =
        secret.length > prefixLength ? [`${escaped(secret.slice(0, prefixLength))}[\\w+/=.-]*`] : [];
      return [...forms.toSorted((left, right) => right.length - left.length), ...start];
    });
    return alternatives.length === 0 ? undefined : new RegExp([...new Set(alternatives)].join('|'), 'g');
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
