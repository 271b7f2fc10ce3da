import createClient, { type Client } from 'openapi-fetch';
import type { paths } from '../generated/http.ts';
import { type OperationFacts, operations } from '../generated/operations.ts';
import { Admin } from './admin/admin.ts';
import { Assets } from './assets.ts';
import type {
  CallArguments,
  CallableOperation,
  Caller,
  CallOptions,
  CallResult,
  OperationData,
} from './call.ts';
import { Callbacks } from './callbacks.ts';
import { Embeddings } from './embeddings.ts';
import { APIError, UnigateError } from './errors.ts';
import { ImageJobs } from './image-jobs.ts';
import { InferenceConnection } from './inference/inference-connection.ts';
import type { Logger } from './logger.ts';
import { Logs } from './logs.ts';
import { Me } from './me.ts';
import { Messages } from './messages.ts';
import type { InferenceModel, RealtimeModel } from './model-ids.ts';
import { Models } from './models.ts';
import { Lyrics, Music } from './music.ts';
import { Models3d, NativeVideos } from './native-tasks.ts';
import { OfficialVideos } from './official-videos.ts';
import { checkPathIds } from './path-ids.ts';
import { RealtimeSession } from './realtime/realtime-session.ts';
import { headerRequestId, recordRequestId } from './request-id.ts';
import { Service } from './service.ts';
import { EventSocket } from './sockets/event-socket.ts';
import { openSocket, type SocketGateway, type SocketOptions } from './sockets/open-socket.ts';
import { Speech } from './speech.ts';
import { Tokens } from './tokens.ts';
import { type Fetch, type SendOptions, send } from './transport.ts';
import { Verification } from './verification.ts';
import { VideoGenerations } from './video-generations.ts';
import { Videos } from './videos.ts';
import { Voices } from './voices.ts';

export interface UnigateOptions {
  /** URL of the gateway. Default: `UNIGATE_BASE_URL` or http://127.0.0.1:8080. */
  baseUrl?: string;
  /** API key. Default: `UNIGATE_API_KEY`. */
  apiKey?: string;
  /** Timeout of one attempt in milliseconds. Default: 600,000. */
  timeout?: number;
  /** Maximum number of retries after a transient failure. Default: 2. */
  maxRetries?: number;
  /**
   * Headers of every request with the key, and of handshakes of sockets in Node. Headers of a call replace them. Requests of
   * `openAddress` do not have them.
   */
  defaultHeaders?: Record<string, string>;
  /** Receives an entry for each request, response and retry, for example `console`. Default: none. */
  logger?: Logger;
  /** Function that sends requests. Default: the global `fetch`. */
  fetch?: Fetch;
  /**
   * WebSocket class with the browser API. Default: `ws` in Node, the global class elsewhere. With this option, handshakes have
   * no headers, and `inference` throws.
   */
  webSocket?: typeof WebSocket;
}

/** The operations of the contract by path. Returns error responses as `error` instead of throwing them. */
export type HttpClient = Client<paths>;

/**
 * Client for a gateway.
 *
 * @example
 * const client = new Unigate({ baseUrl: 'http://127.0.0.1:8080', apiKey: 'sk-…' });
 * const audio = await client.speech.create({ model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' });
 * await writeFile('morning.wav', await audio.bytes());
 */
export class Unigate implements Caller {
  readonly baseUrl: string;
  readonly speech: Speech;
  readonly models: Models;
  readonly videos: Videos;
  readonly videoGenerations: VideoGenerations;
  readonly nativeVideos: NativeVideos;
  readonly officialVideos: OfficialVideos;
  readonly models3d: Models3d;
  readonly music: Music;
  readonly lyrics: Lyrics;
  readonly imageJobs: ImageJobs;
  readonly assets: Assets;
  readonly voices: Voices;
  readonly embeddings: Embeddings;
  readonly messages: Messages;
  readonly tokens: Tokens;
  readonly logs: Logs;
  readonly callbacks: Callbacks;
  readonly me: Me;
  readonly verification: Verification;
  readonly service: Service;
  readonly admin: Admin;
  /** Every operation by path. Accepts `timeout` and `maxRetries` in addition to the options of `fetch`. */
  readonly http: HttpClient;
  readonly #gateway: SocketGateway;
  readonly #transport: Transport;

  /** Throws UnigateError for an invalid URL or key. */
  constructor(options: UnigateOptions = {}) {
    this.baseUrl = readBaseUrl(
      options.baseUrl ?? fromEnvironment('UNIGATE_BASE_URL') ?? 'http://127.0.0.1:8080',
    );
    const key = readKey(options.apiKey ?? fromEnvironment('UNIGATE_API_KEY'));
    const { timeout = 600_000, maxRetries = 2, fetch = globalThis.fetch, logger } = options;
    const headers = readHeaders(options.defaultHeaders);
    this.#transport = { timeout, maxRetries, fetch, logger };
    this.http = createHttpClient(this.baseUrl, key, headers, this.#transport);
    this.#gateway = { baseUrl: this.baseUrl, key, headers, webSocket: options.webSocket };
    this.speech = new Speech(this);
    this.models = new Models(this);
    this.videos = new Videos(this);
    this.videoGenerations = new VideoGenerations(this);
    this.nativeVideos = new NativeVideos(this);
    this.officialVideos = new OfficialVideos(this);
    this.models3d = new Models3d(this);
    this.music = new Music(this);
    this.lyrics = new Lyrics(this);
    this.imageJobs = new ImageJobs(this);
    this.assets = new Assets(this);
    this.voices = new Voices(this);
    this.embeddings = new Embeddings(this);
    this.messages = new Messages(this);
    this.tokens = new Tokens(this);
    this.logs = new Logs(this);
    this.callbacks = new Callbacks(this);
    this.me = new Me(this);
    this.verification = new Verification(this);
    this.service = new Service(this);
    this.admin = new Admin(this);
  }

  /**
   * Opens a socket for one session of an alpha realtime model. `GET /api-ws/v1/realtime`
   *
   * Throws APIError when the gateway rejects the handshake, ConnectionError, TimeoutError or AbortError.
   */
  async realtime(model: RealtimeModel, options: SocketOptions = {}): Promise<RealtimeSession> {
    const { path } = operations.openRealtimeSocket;
    const socket = await openSocket(this.#gateway, path, model, { ...options, keyAsSubprotocol: true });
    return new RealtimeSession(new EventSocket(socket, options));
  }

  /**
   * Opens a socket for tasks of a voxa or alpha-audio model. Not available in browsers. `GET /api-ws/v1/inference`
   *
   * Throws APIError when the gateway rejects the handshake, ConnectionError, TimeoutError or AbortError.
   */
  async inference(model: InferenceModel, options: SocketOptions = {}): Promise<InferenceConnection> {
    const { path } = operations.openInferenceSocket;
    const socket = await openSocket(this.#gateway, path, model, { ...options, keyAsSubprotocol: false });
    return new InferenceConnection(new EventSocket(socket, options), model);
  }

  /**
   * Calls an operation by its id and returns the response data. Throws APIError for an error status.
   *
   * @example const list = await client.call('listTokens');
   */
  async call<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<OperationData<Op, Init>> {
    return (await this.callWithResponse(operation, ...init)).data;
  }

  /** Calls an operation and also returns the HTTP response and the request id. */
  async callWithResponse<Op extends CallableOperation, Init extends CallArguments<Op>>(
    operation: Op,
    ...init: Init
  ): Promise<CallResult<OperationData<Op, Init>>> {
    const { method, path, mediaTypes }: OperationFacts = operations[operation];
    const hasJson = Object.entries(mediaTypes.response).some(
      ([status, types]) => status.startsWith('2') && types.includes('application/json'),
    );
    // A dynamic path loses its types. CallArguments and OperationData restore them.
    const request = this.http.request as unknown as UntypedRequest;
    const { onResponse, ...options }: CallOptions = init[0] ?? {};
    const { data, error, response } = await request(method, path, {
      parseAs: hasJson ? 'json' : 'arrayBuffer',
      ...options,
    }).catch((cause: unknown) => {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new UnigateError(`The response of ${operation} is not JSON.`, { cause });
    });
    if (!response.ok) throw APIError.of({ status: response.status, headers: response.headers, body: error });
    const requestId = headerRequestId(response.headers);
    recordRequestId(data, requestId);
    onResponse?.(response);
    return { data: data as OperationData<Op, Init>, response, requestId };
  }

  /** Requests a file URL from a gateway response, without the key. Throws APIError for an error status. */
  async openAddress(url: string, options: CallOptions = {}): Promise<Response> {
    const { signal, headers, timeout, maxRetries } = options;
    const sendOptions = {
      timeout: timeout ?? this.#transport.timeout,
      maxRetries: maxRetries ?? this.#transport.maxRetries,
      timeoutCovers: 'headers',
      logger: this.#transport.logger,
    } as const;
    const response = await send(new Request(url, { signal, headers }), this.#transport.fetch, sendOptions);
    if (response.ok) {
      options.onResponse?.(response);
      return response;
    }
    const { status, headers: responseHeaders } = response;
    throw APIError.of({ status, headers: responseHeaders, body: await response.text() });
  }
}

type UntypedRequest = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

interface Transport {
  timeout: number;
  maxRetries: number;
  fetch: Fetch;
  logger: Logger | undefined;
}

/** openapi-fetch copies unknown options to the request. */
type RequestWithOptions = Request & Partial<SendOptions>;

function createHttpClient(
  baseUrl: string,
  key: string,
  headers: Record<string, string>,
  { timeout, maxRetries, fetch, logger }: Transport,
): HttpClient {
  const http = createClient<paths>({
    baseUrl,
    headers: { ...headers, authorization: `Bearer ${key}` },
    fetch: (request: RequestWithOptions) =>
      send(request, fetch, {
        timeout: request.timeout ?? timeout,
        maxRetries: request.maxRetries ?? maxRetries,
        timeoutCovers: request.timeoutCovers ?? 'body',
        logger,
      }),
  });
  http.use({
    onRequest({ request, params, options: { parseAs } }) {
      checkPathIds(params.path);
      if (parseAs === 'stream') (request as RequestWithOptions).timeoutCovers ??= 'headers';
    },
  });
  return http;
}

function fromEnvironment(name: string): string | undefined {
  return globalThis.process?.env?.[name] || undefined;
}

function readBaseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UnigateError(`baseUrl must be an http or https URL, not ${text}`);
  return text.replace(/\/+$/, '');
}

/** Throws UnigateError for an invalid header. Its message does not contain the value, which may be secret. */
function readHeaders(headers: Record<string, string> = {}): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers().set(name, value);
    } catch {
      throw new UnigateError(`defaultHeaders contains the invalid header ${JSON.stringify(name)}.`);
    }
  }
  return { ...headers };
}

function readKey(text: string | undefined): string {
  const key = text?.trim();
  if (!key) throw new UnigateError('apiKey is required, or set UNIGATE_API_KEY.');
  // fetch would include the header, and therefore the key, in its error message.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UnigateError('apiKey contains characters that are not allowed in a header.');
  return key;
}
