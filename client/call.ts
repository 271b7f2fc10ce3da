import type { ParamsOption, ParseAs, RequestBodyOption } from 'openapi-fetch';
import type { operations } from '../generated/http.ts';
import type { OperationId } from '../generated/operations.ts';

/** What every call takes beside its body. */
export interface CallOptions {
  /** Stops the call, also in the middle of its answer, with AbortError. */
  signal?: AbortSignal;
  /** Milliseconds for one attempt: up to the headers of a stream, otherwise to the end of the body. */
  timeout?: number;
  /** How often the request is repeated after a passing failure. */
  maxRetries?: number;
  /** Headers beside those of the contract. */
  headers?: Record<string, string>;
}

/** The operations of the contract that are plain HTTP; the others open a socket. */
export type CallableOperation = {
  [Op in OperationId]: operations[Op]['responses'] extends { 101: unknown } ? never : Op;
}[OperationId];

/** Parameters, body and options of an operation. `parseAs` says how to read the body of the answer. */
export type CallInit<Op extends CallableOperation> = ParamsOption<operations[Op]> &
  RequestBodyOption<operations[Op]> &
  CallOptions & { parseAs?: ParseAs };

/** The init may be left out where nothing in it is required. */
export type CallArguments<Op extends CallableOperation> =
  Record<never, never> extends CallInit<Op> ? [init?: CallInit<Op>] : [init: CallInit<Op>];

interface BodyForms {
  text: string;
  blob: Blob;
  arrayBuffer: ArrayBuffer;
  stream: ReadableStream<Uint8Array>;
}

type JsonAnswer<Op extends CallableOperation> = {
  [Status in keyof operations[Op]['responses']]: Status extends 200 | 201 | 202
    ? operations[Op]['responses'][Status] extends { content: { 'application/json': infer Json } }
      ? Json
      : never
    : never;
}[keyof operations[Op]['responses']];

/** An operation without a JSON answer gives bytes. */
type DefaultAnswer<Op extends CallableOperation> = [JsonAnswer<Op>] extends [never]
  ? ArrayBuffer
  : JsonAnswer<Op>;

/** The answer of an operation: what `parseAs` says, otherwise its JSON, otherwise its bytes. */
export type Answer<Op extends CallableOperation, Init> = Init extends [{ parseAs: infer Form }]
  ? Form extends keyof BodyForms
    ? BodyForms[Form]
    : DefaultAnswer<Op>
  : DefaultAnswer<Op>;

/** An answer with its HTTP response, whose body is read already. */
export interface Reply<Data> {
  data: Data;
  response: Response;
  /** The gateway's id of the request. */
  requestId: string | undefined;
}

/** What the families of operations call the gateway with. */
export interface Caller {
  /** Calls an operation of the contract by its id and gives its answer. Throws APIError for an error status. */
  call<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<Answer<Op, Init>>;
  /** The same, with the HTTP response and the request id beside the answer. */
  callWithReply<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<Reply<Answer<Op, Init>>>;
  /**
   * Opens the address of a file that the gateway has named, without the key; the body is still to be read. Throws
   * APIError for an error status.
   */
  openAddress(url: string, options?: CallOptions): Promise<Response>;
}
