import type { IncomingHttpHeaders } from 'node:http';
import type { Unit } from '../../../generated/catalogue.ts';
import { Failure } from '../../lib/failure.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import type { Usage } from '../../quota/metering.ts';
import { isJson } from '../headers.ts';
import { field, objectField, textField } from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';
import { betaFailure, betaFault } from '../rejection.ts';
import { EmptyResponseFailure } from '../unusable.ts';
import type { AnswerWatch } from './answer-watch.ts';
import { ElidedJson } from './elided-json.ts';
import { readUsage } from './usage.ts';

/** A JSON answer of the native routes: all of them have an output. */
export type NativeAnswer = Readonly<Record<string, unknown>> & { output: object };

/** Reads an answer of no more than `limit` bytes. @throws Failure 502 when it has more */
export async function readWhole({ body }: HttpResponse, limit: number): Promise<Buffer> {
  const bytes = await body.readAll(limit);
  if (bytes !== undefined) return bytes;
  body.destroy();
  throw unusableAnswer();
}

/**
 * Reads the body of an answer with status 200.
 *
 * @throws Failure 502 when it is none of a native route, for example the page of a proxy or an error
 */
export function parseAnswer(headers: IncomingHttpHeaders, text: Buffer | string): NativeAnswer {
  const answer = isJson(headers) ? parsed(String(text)) : undefined;
  const output = objectField(answer, 'output');
  if (output === undefined) throw unusableAnswer();
  return answer as NativeAnswer;
}

function unusableAnswer(): Failure {
  return new Failure(502, 'bad_response', 'The provider did not give a usable answer.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where a finished native answer has its audio; undefined when it has none. */
export function audioSource({ output }: NativeAnswer): { url: string } | { bytes: Buffer } | undefined {
  const alpha = field(output, 'audio');
  const beta = textField(field(output, 'data'), 'audio');
  const url = textField(alpha, 'url') ?? beta ?? '';
  if (/^https?:\/\//.test(url)) return { url };
  const base64 = textField(alpha, 'data');
  // Looked through for what does not belong: a pattern for all of it would not fit the stack.
  if (base64 !== undefined && !/[^\w+/=-]/.test(base64)) return { bytes: Buffer.from(base64, 'base64') };
  if (beta !== undefined && beta.length % 2 === 0 && !/[^0-9a-f]/i.test(beta))
    return { bytes: Buffer.from(beta, 'hex') };
  return undefined;
}

/** What a whole answer to a synthesis says. */
export interface SpeechVerdict {
  usage: Usage | undefined;
  /** The provider refused the request, in its answer of HTTP 200. */
  refusal: Failure | undefined;
}

/**
 * Judges the answer to a synthesis, or to the cloning of a beta voice.
 *
 * @throws Failure 502 or 504 when the provider failed, or gave neither audio nor a refusal
 */
export function judge(
  answer: NativeAnswer,
  unit: Unit,
  words: ProviderWords,
  cloning = false,
): SpeechVerdict {
  const refusal = betaFailure(answer.output, words);
  if (refusal !== undefined && betaFault(answer.output) !== undefined) throw refusal;
  const made = cloning ? Object.keys(answer.output).length > 0 : audioSource(answer) !== undefined;
  if (refusal === undefined && !made)
    throw new EmptyResponseFailure(`The provider gave no ${cloning ? 'voice' : 'audio'}.`);
  return { usage: readUsage(unit, answer.usage), refusal };
}

/** Watches JSON that is too long to be looked at before it goes on. */
export class JsonWatch implements AnswerWatch {
  readonly #headers: IncomingHttpHeaders;
  readonly #judge: (answer: NativeAnswer) => SpeechVerdict;
  readonly #elided = new ElidedJson();
  #verdict: SpeechVerdict | undefined;

  constructor(headers: IncomingHttpHeaders, judgeIt: (answer: NativeAnswer) => SpeechVerdict) {
    this.#headers = headers;
    this.#judge = judgeIt;
  }

  take(piece: Buffer): readonly Buffer[] {
    this.#elided.push(piece);
    return [piece];
  }

  end(): readonly Buffer[] {
    this.#verdict = this.#judge(parseAnswer(this.#headers, this.#elided.text));
    return [];
  }

  get usage(): Usage | undefined {
    return this.#verdict?.usage;
  }

  get delivered(): boolean {
    return /"(?:data|audio)"\s*:\s*"[^"]/.test(this.#elided.text);
  }

  get failure(): Failure | undefined {
    return this.#verdict?.refusal;
  }
}
