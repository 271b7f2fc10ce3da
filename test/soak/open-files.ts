import { readdir, readFile, readlink } from 'node:fs/promises';

/** How many files of each kind a process has open, as `{ "connection to 127.0.0.1:5432": 4, "pipe": 3 }`. */
export type OpenFiles = Readonly<Record<string, number>>;

/** Of a process on Linux. */
export async function openFilesOf(pid: number): Promise<OpenFiles> {
  const folder = `/proc/${pid}/fd`;
  const sockets = await readSockets(pid);
  const kinds: Record<string, number> = {};
  for (const number of await readdir(folder)) {
    // One that has just been closed is none any more.
    const target = await readlink(`${folder}/${number}`).catch(() => undefined);
    if (target === undefined) continue;
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    const kind =
      inode === undefined ? target.replace(/:\[\d+\]$/, '') : (sockets.get(inode) ?? 'other socket');
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

export function countOf(files: OpenFiles, counts: (kind: string) => boolean = () => true): number {
  return Object.entries(files).reduce((sum, [kind, count]) => (counts(kind) ? sum + count : sum), 0);
}

/** Those of several processes. */
export function together(all: readonly OpenFiles[]): OpenFiles {
  const sum: Record<string, number> = {};
  for (const [kind, count] of all.flatMap((files) => Object.entries(files)))
    sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

/** What there is more of, in words. */
export function growthOf(before: OpenFiles, after: OpenFiles): string {
  return Object.entries(after)
    .map(([kind, count]) => ({ kind, more: count - (before[kind] ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} more of ${kind}`)
    .join(', ');
}

/** What each socket of the machine is, by its inode. */
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
