import type { IncomingHttpHeaders } from 'node:http';
import type { Unit } from '../../../generated/catalogue.ts';
import type { Failure } from '../../lib/failure.ts';
import { field, objectField, parseJson, textField } from '../../lib/json.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import type { Usage } from '../../quota/metering.ts';
import { isJson } from '../headers.ts';
import type { ProviderRedactor } from '../provider-redactor.ts';
import { betaErrorSource, betaFailure } from '../rejection.ts';
import { readUsage } from '../token-usage.ts';
import { EmptyResponseFailure, unusableResponse } from '../unusable-response.ts';
import { ElidedJson } from './elided-json.ts';
import type { ResponseMonitor } from './response-monitor.ts';

/** A JSON response of a native route. All of them have an output. */
export type NativeResponse = Readonly<Record<string, unknown>> & { output: object };

/** Reads a body of at most `limit` bytes. @throws Failure 502 when it is longer */
export async function readLimited({ body }: HttpResponse, limit: number): Promise<Buffer> {
  const bytes = await body.readAll(limit);
  if (bytes !== undefined) return bytes;
  body.destroy();
  throw unusableResponse();
}

/** Parses the body of a response with status 200. @throws Failure 502 for any other body, such as an error page */
export function parseResponse(headers: IncomingHttpHeaders, text: Buffer | string): NativeResponse {
  const response = isJson(headers) ? parseJson(text) : undefined;
  if (objectField(response, 'output') === undefined) throw unusableResponse();
  return response as NativeResponse;
}

/** Finds the audio of a finished response. Undefined without audio. */
export function audioSource({ output }: NativeResponse): { url: string } | { bytes: Buffer } | undefined {
  const alpha = field(output, 'audio');
  const beta = textField(field(output, 'data'), 'audio');
  const url = textField(alpha, 'url') ?? beta ?? '';
  if (/^https?:\/\//.test(url)) return { url };
  const base64 = textField(alpha, 'data');
  // Searches for an invalid character, because a pattern for the whole text would overflow the stack.
  if (base64 !== undefined && !/[^\w+/=-]/.test(base64)) return { bytes: Buffer.from(base64, 'base64') };
  if (beta !== undefined && beta.length % 2 === 0 && !/[^0-9a-f]/i.test(beta))
    return { bytes: Buffer.from(beta, 'hex') };
  return undefined;
}

export type SpeechResult = ReturnType<typeof evaluateSpeech>;

/** Evaluates the response to a synthesis, or to the cloning of a beta voice. @throws Failure 502 or 504 of the provider */
export function evaluateSpeech(
  response: NativeResponse,
  unit: Unit,
  redactor: ProviderRedactor,
  isCloning = false,
) {
  // The provider may reject the request with HTTP 200.
  const rejection = betaFailure(response.output, redactor);
  if (rejection !== undefined && betaErrorSource(response.output) !== undefined) throw rejection;
  const hasOutput = isCloning ? Object.keys(response.output).length > 0 : audioSource(response) !== undefined;
  if (rejection === undefined && !hasOutput)
    throw new EmptyResponseFailure(`The provider returned no ${isCloning ? 'voice' : 'audio'}.`);
  return { usage: readUsage(unit, response.usage), rejection };
}

/** Inspects JSON that is too long to check before it is forwarded. */
export class JsonMonitor implements ResponseMonitor {
  readonly #headers: IncomingHttpHeaders;
  readonly #evaluate: (response: NativeResponse) => SpeechResult;
  readonly #elided = new ElidedJson();
  usage: Usage | undefined;
  failure: Failure | undefined;

  constructor(headers: IncomingHttpHeaders, evaluate: (response: NativeResponse) => SpeechResult) {
    this.#headers = headers;
    this.#evaluate = evaluate;
  }

  write(chunk: Buffer): readonly Buffer[] {
    this.#elided.push(chunk);
    return [chunk];
  }

  end(): readonly Buffer[] {
    const { usage, rejection } = this.#evaluate(parseResponse(this.#headers, this.#elided.text));
    this.usage = usage;
    this.failure = rejection;
    return [];
  }

  release(): readonly Buffer[] {
    return [];
  }

  get delivered(): boolean {
    return /"(?:data|audio)"\s*:\s*"[^"]/.test(this.#elided.text);
  }
}
