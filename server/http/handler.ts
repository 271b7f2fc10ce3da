import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { operations as contract } from '../../generated/http.ts';
import type { OperationId, operations } from '../../generated/operations.ts';
import type { Caller } from '../keys/caller.ts';
import type { ChunkSource } from '../outbound/response-body.ts';
import type { Gateway } from './gateway.ts';

type Contract<Op extends OperationId> = contract[Op];

/** The JSON body of an operation, or `undefined` if it has none. */
export type RequestBody<Op extends OperationId> =
  Contract<Op> extends { requestBody: { content: { 'application/json': infer Body } } } ? Body : undefined;

type PathParameters<Op extends OperationId> =
  Contract<Op> extends { parameters: { path: infer Path } } ? Path : Record<string, never>;

type QueryParameters<Op extends OperationId> =
  Contract<Op> extends { parameters: { query?: infer Query } } ? NonNullable<Query> : Record<string, never>;

type Responses<Op extends OperationId> = Contract<Op> extends { responses: infer All } ? All : never;

/** The JSON body of one response. */
export type ResponseBody<
  Op extends OperationId,
  Status extends keyof Responses<Op>,
> = Responses<Op>[Status] extends { content: { 'application/json': infer Body } } ? Body : never;

/** A validated request. */
export interface OperationRequest<Op extends OperationId> {
  readonly gateway: Gateway;
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** Undefined for an operation without security. */
  readonly caller: (typeof operations)[Op]['security'] extends 'none' ? undefined : Caller;
  readonly body: RequestBody<Op>;
  readonly path: PathParameters<Op>;
  readonly query: QueryParameters<Op>;
  readonly headers: IncomingHttpHeaders;
  /** Template of the path that was called: the operation's own or one of its aliases. */
  readonly route: string;
  /** The caller's IP address, see `Gateway.addressOf`. Empty after the client disconnected. */
  readonly address: string;
  /** The base URL at which the client reaches the gateway, see `Gateway.baseUrlOf`. Undefined if unknown. */
  readonly baseUrl: string | undefined;
  /** Another model serves the request if no channel of this one can. */
  readonly hasFallback?: boolean;
  /** The model and body that the client sent, if the model has fallbacks. */
  readonly requested?: { readonly model: string; readonly body: object };
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

/** Transforms a forwarded body. */
export interface ForwardHooks {
  /** Returns the chunks to send in place of this one. */
  transform(chunk: Buffer): readonly Buffer[];
  /** Runs after the last chunk. Returns what is still to be sent. */
  end(): Promise<readonly Buffer[]>;
  /** Runs if the body or another hook fails. Returns the bytes that the hooks hold. */
  abort?(): readonly Buffer[];
}

/** Sends the response. Only one of the methods that send it may be called, once. */
export interface Reply<Op extends OperationId> {
  /** Whether sent data waits for the client to read it. */
  readonly hasUnsentOutput: boolean;
  /** Whether the request is a HEAD. */
  readonly headersOnly: boolean;
  /**
   * Lets `forward` and `stream` end with the charge as a trailer if the client accepts trailers. Such a response is sent in
   * chunks. Precedes the other methods.
   */
  deferCharge(): void;
  /** Reports the charged quota in a header, or in a trailer if the headers are sent. May precede the other methods. */
  reportCharge(quota: number | undefined): void;
  json<Status extends keyof Responses<Op> & number>(
    status: Status,
    body: ResponseBody<Op, Status>,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** A status that has no body. */
  empty(status: 204): void;
  /** A 304, for a client that has the body. */
  notModified(headers: Readonly<Record<string, string>>): void;
  /** Finished bytes, for example an upstream's own JSON. */
  bytes(
    status: number,
    contentType: string,
    body: Buffer | string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /**
   * Forwards an upstream's body with backpressure. The response starts with the first chunk to send; only then must
   * its content type be known. Resolves at the end. Rejects when the body or a hook fails, or the client disconnects.
   */
  forward(
    status: number,
    contentType: string | (() => string),
    body: ChunkSource,
    hooks: ForwardHooks,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /**
   * Sends a stream with backpressure. Resolves when everything is written. Rejects when the source fails or the client
   * disconnects.
   */
  stream(
    status: number,
    contentType: string,
    body: AsyncIterable<Uint8Array> | Readable,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
}

export type Handler<Op extends OperationId> = (
  request: OperationRequest<Op>,
  reply: Reply<Op>,
) => Promise<void> | void;

/** One handler per operation of the contract. A missing or misspelled one does not compile. */
export type Handlers = { readonly [Op in OperationId]: Handler<Op> };
