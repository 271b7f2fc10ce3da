import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { databaseUrl } from './engines.ts';

/** When a connection breaks over which the client sends a statement. */
type Cut =
  /** The connection breaks before the statement arrives. */
  | 'before'
  /** The statement runs, and the connection breaks before the response. */
  | 'after';

/** A proxy in front of the PostgreSQL server that breaks connections on request. */
export class DatabaseProxy {
  #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #down = false;
  #silent = false;
  #cut: { statement: string; when: Cut; cut: () => void } | undefined;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#connect(client));
  }

  /** `target`: URL of the database. */
  static async start(target = databaseUrl): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** URL of the database through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Breaks the next connection that carries a statement with this text. Resolves when it is broken. */
  cut(statement: string, when: Cut): Promise<void> {
    return new Promise((resolve) => {
      this.#cut = { statement, when, cut: resolve };
    });
  }

  /** Breaks every connection and refuses new ones. */
  down(): void {
    this.#down = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Forwards new connections to another server. */
  redirect(target: string): void {
    this.#target = new URL(target);
  }

  /** Accepts connections and forwards nothing. */
  silence(): void {
    this.#silent = true;
  }

  up(): void {
    this.#down = false;
    this.#silent = false;
  }

  async close(): Promise<void> {
    this.down();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect(client: Socket): void {
    if (this.#down) {
      client.destroy();
      return;
    }
    const { hostname, port } = this.#target;
    const server = connect(Number(port || 5432), hostname);
    const ends = [client, server];
    const leave = () => {
      for (const end of ends) {
        end.destroy();
        this.#sockets.delete(end);
      }
    };
    for (const end of ends) {
      this.#sockets.add(end);
      end.on('error', leave);
      end.on('close', leave);
    }
    let answered: (() => void) | undefined;
    client.on('data', (data) => {
      if (this.#silent) return;
      const planned = this.#cut;
      if (planned === undefined || !data.includes(planned.statement)) {
        server.write(data);
        return;
      }
      this.#cut = undefined;
      const breakOff = () => {
        leave();
        planned.cut();
      };
      if (planned.when === 'before') {
        breakOff();
        return;
      }
      answered = breakOff;
      server.write(data);
    });
    server.on('data', (data) => {
      if (answered !== undefined) answered();
      else if (!this.#silent) client.write(data);
    });
  }
}
