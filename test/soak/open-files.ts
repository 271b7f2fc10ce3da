import { readdir, readFile, readlink } from 'node:fs/promises';

/** Number of open files by kind, such as `{ "connection to port 5432": 4, "pipe": 3 }`. */
export type OpenFiles = Readonly<Record<string, number>>;

/** Reads the open files of a process on Linux. */
export async function readOpenFiles(pid: number): Promise<OpenFiles> {
  const folder = `/proc/${pid}/fd`;
  const sockets = await readSockets(pid);
  const kinds: Record<string, number> = {};
  for (const number of await readdir(folder)) {
    // The file may have been closed in the meantime.
    const target = await readlink(`${folder}/${number}`).catch(() => undefined);
    if (target === undefined) continue;
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    const kind =
      inode === undefined ? target.replace(/:\[\d+\]$/, '') : (sockets.get(inode) ?? 'other socket');
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

export function countFiles(files: OpenFiles, isCounted: (kind: string) => boolean = () => true): number {
  return Object.entries(files).reduce((sum, [kind, count]) => (isCounted(kind) ? sum + count : sum), 0);
}

/** Adds up the open files of several processes. */
export function mergeOpenFiles(all: readonly OpenFiles[]): OpenFiles {
  const sum: Record<string, number> = {};
  for (const [kind, count] of all.flatMap((files) => Object.entries(files)))
    sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

/** Describes the kinds that have more files than before. */
export function describeGrowth(before: OpenFiles, after: OpenFiles): string {
  return Object.entries(after)
    .map(([kind, count]) => ({ kind, more: count - (before[kind] ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} more of ${kind}`)
    .join(', ');
}

/** Returns the kind of each TCP socket by inode. */
async function readSockets(pid: number): Promise<Map<string, string>> {
  const table = async (name: string) =>
    (await readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => ''))
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  const tcp = [...(await table('tcp')), ...(await table('tcp6'))];
  const listening = new Set(
    tcp.filter(([, , , state]) => state === '0A').map(([, local = '']) => portOf(local)),
  );
  return new Map(
    tcp.map(([, local = '', remote = '', state = '', , , , , , inode = '']) => {
      if (state === '0A') return [inode, 'listening socket'];
      return [
        inode,
        listening.has(portOf(local)) ? 'connection of a client' : `connection to port ${portOf(remote)}`,
      ];
    }),
  );
}

const portOf = (address: string) => Number.parseInt(address.split(':')[1] ?? '', 16);
