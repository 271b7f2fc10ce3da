import { SettingsError } from './settings-error.ts';

/** Limits of the use of PostgreSQL. Times in milliseconds. */
export interface PostgresLimits {
  /** Connections for requests. Polls and the readiness probe have their own. */
  connections: number;
  /** Time to connect or to wait for a free connection. */
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
}

export const standardLimits: PostgresLimits = {
  connections: 10,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 15_000,
  idleInTransactionTimeoutMs: 15_000,
};

const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** Values of `target_session_attrs`. The gateway always needs a server that accepts writes. */
const writableTargets = ['read-write', 'primary'];

/**
 * Returns the address of each server that a database address names. `postgres://a:5432,b:5432/db` names two.
 *
 * @throws SettingsError naming the variable, without the address, since that contains a password
 */
export function serverUrls(variable: string, databaseUrl: string): [string, ...string[]] {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new SettingsError(`${variable} must begin with postgres:// or postgresql://, as in ${form}.`);
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^(\w+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(databaseUrl) ?? [];
  const [first = '', ...others] = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
  // An empty host is valid for a single server, whose socket `?host=` names.
  const isEmpty = others.length > 0 && hosts.split(',').includes('');
  if (isEmpty || ![first, ...others].every(isAddress))
    throw new SettingsError(
      `${variable} must have the form ${form}, with several HOST:PORT separated by commas and special characters percent-encoded.`,
    );
  const target = new URL(withHost(first)).searchParams.get('target_session_attrs');
  if (target !== null && !writableTargets.includes(target))
    throw new SettingsError(
      `${variable}: target_session_attrs must be one of ${writableTargets.join(', ')}, because the gateway writes.`,
    );
  return [first, ...others];
}

/** Adds a host to an address without one, which `URL` refuses. */
function withHost(url: string): string {
  return url.replace('@/', '@localhost/');
}

function isAddress(url: string): boolean {
  const parsed = URL.parse(withHost(url));
  if (parsed === null) return false;
  try {
    for (const part of [parsed.username, parsed.password, parsed.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
