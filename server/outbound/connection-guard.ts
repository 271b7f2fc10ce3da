import { Socket, type SocketConnectOpts } from 'node:net';
import { isPrivateAddress, PrivateAddressError, publicLookup, type Resolve } from './open-url.ts';

/** Environment variable with the exempt addresses (`host:port`) of a guarded process, as a JSON list. */
export const exemptVariable = 'UNIGATE_EXEMPT_ADDRESSES';

/**
 * Limits the connections of this process to public addresses and to `exempt`, a set of `host:port`. Returns a function
 * that removes the limit. `fetch`, `node:http`, `node:tls` and `ws` all connect through this method of `Socket`, and
 * have no other common option.
 */
export function guardConnections(exempt: ReadonlySet<string>, resolve?: Resolve): () => void {
  const { connect } = Socket.prototype;
  const lookup = publicLookup(resolve);
  function connectGuarded(this: Socket, ...args: unknown[]): Socket {
    // `net.connect` passes a list with the normalized arguments.
    const [target, ...rest] = Array.isArray(args[0]) ? args[0] : args;
    const [host, listener] = typeof target === 'object' ? [undefined, rest[0]] : [rest[0], rest.at(-1)];
    const options = optionsOf(target, host);
    const onConnect = typeof listener === 'function' ? (listener as () => void) : undefined;
    const name = 'port' in options ? (options.host ?? 'localhost') : '';
    const open = (allowed: SocketConnectOpts): Socket => Reflect.apply(connect, this, [allowed, onConnect]);
    if ('port' in options && exempt.has(`${name}:${options.port}`)) return open(options);
    if (!('port' in options) || isPrivateAddress(name))
      return this.destroy(new PrivateAddressError('port' in options ? name : 'A local socket'));
    return open({ ...options, lookup });
  }
  Socket.prototype.connect = connectGuarded;
  return () => {
    Socket.prototype.connect = connect;
  };
}

function optionsOf(target: unknown, host: unknown): SocketConnectOpts {
  if (typeof target === 'object' && target !== null) return target as SocketConnectOpts;
  if (typeof target === 'string' && !/^\d+$/.test(target)) return { path: target };
  return { port: Number(target), ...(typeof host === 'string' && { host }) };
}
