import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
}

type Value = { stringValue?: string; intValue?: number; doubleValue?: number };
interface SentSpan extends Omit<CollectedSpan, 'attributes'> {
  attributes: { key: string; value: Value }[];
}
interface SentBatch {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
}

/** An OTLP collector that accepts spans over HTTP as JSON. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** Header `authorization` of the last batch. */
  authorization: string | undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.authorization = request.headers.authorization;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces')
          this.#collect(JSON.parse(Buffer.concat(chunks).toString()) as SentBatch);
        response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' });
        response.end('{}');
      });
    });
  }

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #collect({ resourceSpans }: SentBatch): void {
    for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
      this.spans.push({
        ...span,
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }) => [
            key,
            value.stringValue ?? value.intValue ?? value.doubleValue,
          ]),
        ),
      });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
