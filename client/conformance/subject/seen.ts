import { type ErrorFacts, type ErrorFamily, errors } from '../../../generated/errors.ts';
import { type OperationFacts, type OperationId, operations } from '../../../generated/operations.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { type Answer, jsonOf } from '../wire/answer.ts';
import { streamedMessages } from '../wire/event-stream.ts';
import { mediaTypeOf } from '../wire/wire.ts';

/** What the generated table says of an operation, or of the one that it repeats under another prefix. */
export const factsOf = ({ id, aliasOf = id }: Pick<DocumentedOperation, 'id' | 'aliasOf'>): OperationFacts =>
  operations[aliasOf as OperationId];

/** Codes of requests that reach no operation. */
const ofNoOperation: ReadonlySet<string> = new Set(['path_not_found', 'method_not_allowed']);

const all: readonly ErrorFacts[] = errors;

/** What a server has done so far. */
export class Seen {
  /** `<operation> <status> <media type>`. */
  readonly answers = new Set<string>();
  /** `<channel> <client or server> <message>`. */
  readonly events = new Set<string>();
  /** `<family> <status> <code>`, without the status where no answer of HTTP carries the code. */
  readonly errors = new Set<string>();

  noteAnswer(operation: DocumentedOperation, answer: Answer): void {
    const type = answer.body.length === 0 ? '' : mediaTypeOf(answer);
    this.answers.add(`${operation.aliasOf ?? operation.id} ${answer.status} ${type}`.trim());
    const body = bodyOf(answer);
    if (type === 'text/event-stream' && answer.status === 200) this.#noteEvents(operation, answer);
    if (answer.status < 400) {
      this.noteError('task', body.error?.code ?? body.output?.code ?? body.data?.Error?.Code);
      return;
    }
    const { errorFamily: family } = factsOf(operation);
    const code = body.error?.code;
    if (family === 'management' && body.success === false) this.errors.add(`${family} ${answer.status}`);
    else if (code !== undefined)
      this.errors.add(`${ofNoOperation.has(code) ? 'generic' : family} ${answer.status} ${code}`);
  }

  #noteEvents({ path }: DocumentedOperation, { body }: Answer): void {
    try {
      const { channel, messages } = streamedMessages(path, body.toString('utf8'));
      for (const message of messages) this.events.add(`${channel} server ${message}`);
    } catch {
      // What is out of place is told as a problem of the answer.
    }
  }

  noteError(family: ErrorFamily, code: string | null | undefined): void {
    if (typeof code === 'string') this.errors.add(`${family} ${code}`);
  }
}

/** The code of an answer in the family's own form; undefined where it has none. */
export const codeOf = (answer: Answer): string | undefined => bodyOf(answer).error?.code;

/** Whether the catalogue has the code for that status and family. */
export const isKnownCode = (family: ErrorFamily, status: number, code: string): boolean =>
  all.some(
    (one) =>
      one.code === code &&
      one.statuses.includes(status) &&
      (one.families.includes(family) || ofNoOperation.has(code)),
  );

interface Body {
  success?: boolean;
  error?: { code?: string } | null;
  output?: { code?: string };
  data?: { Error?: { Code?: string } };
}

function bodyOf(answer: Answer): Body {
  if (mediaTypeOf(answer) !== 'application/json') return {};
  try {
    const body = jsonOf(answer);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
