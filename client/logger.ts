import { headerRequestId } from './request-id.ts';

/** Receives log entries, for example `console`. */
export interface Logger {
  /** Requests and responses. */
  debug(message: string, fields: LogFields): void;
  /** Retries, and calls of deprecated operations. */
  warn(message: string, fields: LogFields): void;
}

/** The fields of a log entry. They contain no key, header, query or body. */
export interface LogFields {
  method: string;
  /** URL without its query and without the token of a file. */
  url: string;
  /** 1 for the first attempt. */
  attempt: number;
  status?: number;
  requestId?: string;
  /** Time from the request to the headers of the response or the error, in milliseconds. */
  durationMs?: number;
  /** Time until the next attempt, in milliseconds. */
  retryInMs?: number;
  /** Date after which the gateway may remove the operation. */
  sunset?: string;
  /** Message of the error. */
  error?: string;
}

/** The token in the URL of a file grants access to it. */
const fileToken = /\/v1\/files\/[^/]+/;

/** Logs the attempts of one request. */
export class RequestLog {
  readonly #logger: Logger | undefined;
  readonly #fields: Pick<LogFields, 'method' | 'url'>;
  #attempt = 0;
  #startedAt = 0;
  #outcome: Partial<LogFields> = {};

  constructor(logger: Logger | undefined, { method, url }: Request) {
    this.#logger = logger;
    this.#fields = { method, url: url.replace(/[?#].*$/s, '').replace(fileToken, '/v1/files/***') };
  }

  start(): void {
    this.#attempt += 1;
    this.#startedAt = performance.now();
    this.#logger?.debug('request', { ...this.#fields, attempt: this.#attempt });
  }

  response({ status, headers }: Response): void {
    const requestId = headerRequestId(headers);
    this.#end('response', { status, ...(requestId !== undefined && { requestId }) });
    if (!headers.has('deprecation')) return;
    const sunset = headers.get('sunset');
    const fields = { ...this.#fields, attempt: this.#attempt, ...(sunset !== null && { sunset }) };
    this.#logger?.warn('deprecated', fields);
  }

  error(error: unknown): void {
    this.#end('request failed', { error: error instanceof Error ? error.message : String(error) });
  }

  /** Logs a retry with the outcome of the last attempt. */
  retry(delayMs: number): void {
    const retryInMs = Math.round(delayMs);
    this.#logger?.warn('retry', { ...this.#fields, attempt: this.#attempt, ...this.#outcome, retryInMs });
  }

  #end(message: string, outcome: Partial<LogFields>): void {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#outcome = { ...outcome, durationMs };
    this.#logger?.debug(message, { ...this.#fields, attempt: this.#attempt, ...this.#outcome });
  }
}
