import { type ErrorFacts, type ErrorFamily, errors } from '../../../generated/errors.ts';
import { type OperationFacts, type OperationId, operations } from '../../../generated/operations.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { streamedMessages } from '../wire/event-stream.ts';
import { type HttpResponse, jsonOf } from '../wire/http-response.ts';
import { mediaTypeOf } from '../wire/wire.ts';

/** Returns the generated facts of an operation. An alias has the facts of its original. */
export const factsOf = ({ id, aliasOf = id }: Pick<DocumentedOperation, 'id' | 'aliasOf'>): OperationFacts =>
  operations[aliasOf as OperationId];

const allErrors: readonly ErrorFacts[] = errors;

/** Records the responses, events and errors that a server has sent. */
export class Coverage {
  /** `<operation> <status> <media type>`. */
  readonly responses = new Set<string>();
  /** `<channel> <client or server> <message>`. */
  readonly events = new Set<string>();
  /** `<family> <status> <code>`, without the status for codes in tasks and on sockets. */
  readonly errors = new Set<string>();

  recordResponse(operation: DocumentedOperation, response: HttpResponse): void {
    const type = response.body.length === 0 ? '' : mediaTypeOf(response);
    this.responses.add(`${operation.aliasOf ?? operation.id} ${response.status} ${type}`.trim());
    const body = bodyOf(response);
    if (type === 'text/event-stream' && response.status === 200) this.#recordEvents(operation, response);
    if (response.status < 400) {
      this.recordError('task', body.error?.code ?? body.output?.code ?? body.data?.Error?.Code);
      return;
    }
    const { errorFamily: family } = factsOf(operation);
    const code = body.error?.code;
    if (family === 'management' && body.success === false) this.errors.add(`${family} ${response.status}`);
    else if (code !== undefined) this.errors.add(`${family} ${response.status} ${code}`);
  }

  #recordEvents({ path }: DocumentedOperation, { body }: HttpResponse): void {
    try {
      const { channel, messages } = streamedMessages(path, body.toString('utf8'));
      for (const message of messages) this.events.add(`${channel} server ${message}`);
    } catch {
      // `violations` reports an invalid stream.
    }
  }

  recordError(family: ErrorFamily, code: string | null | undefined): void {
    if (typeof code === 'string') this.errors.add(`${family} ${code}`);
  }
}

/** Returns the error code of a response. Undefined if its format has no code. */
export const codeOf = (response: HttpResponse): string | undefined => bodyOf(response).error?.code;

/** Whether errors.yaml lists the code with that status and family. */
export const isKnownCode = (family: ErrorFamily, status: number, code: string): boolean =>
  allErrors.some(
    (one) => one.code === code && one.statuses.includes(status) && one.families.includes(family),
  );

interface Body {
  success?: boolean;
  error?: { code?: string } | null;
  output?: { code?: string };
  data?: { Error?: { Code?: string } };
}

function bodyOf(response: HttpResponse): Body {
  if (mediaTypeOf(response) !== 'application/json') return {};
  try {
    const body = jsonOf(response);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
