/** Calls management operations of a deployment. */
export class Operator {
  readonly #key: string;
  readonly #urlOf: () => string;

  /** `urlOf` returns the URL of a running gateway. */
  constructor(key: string, urlOf: () => string) {
    this.#key = key;
    this.#urlOf = urlOf;
  }

  /** Returns the text of a successful response. @throws Error on any other response */
  async text(method: string, path: string, body?: object): Promise<string> {
    const response = await fetch(`${this.#urlOf()}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  }

  /** Returns `data` of a successful response. */
  async data<Data>(method: string, path: string, body?: object): Promise<Data> {
    return (JSON.parse(await this.text(method, path, body)) as { data: Data }).data;
  }
}
