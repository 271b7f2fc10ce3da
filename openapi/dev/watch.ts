import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds of quiet after which a burst of writes counts as one save. */
const quiet = 40;

export interface Saved {
  /** Files that were changed, made or taken away, below the root, with slashes. */
  paths: string[];
  /** When the last of it was noticed, as `performance.now()` tells. */
  at: number;
}

export interface Watch {
  /** True while something was saved that `next` has not handed out. */
  readonly pending: boolean;
  /** What was saved since the last call; waits for something. */
  next(): Promise<Saved>;
  close(): void;
}

/**
 * Watches all files below some folders of `root` whose names end in what a contract or its code is written in.
 * The system's notices are only hints to look: what has changed is told by time, size and place on the disk, so that
 * editors that write by rename, and two saves at once, come out right.
 */
export function watchFiles(root: string, folders: readonly string[]): Watch {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let known = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let waiting: (() => void) | undefined;

  let at = 0;

  const hint = () => {
    at = performance.now();
    clearTimeout(timer);
    timer = setTimeout(look, quiet);
  };

  function look() {
    timer = undefined;
    const { files, places } = scan(root, folders);
    for (const [path, mark] of files) if (known.get(path) !== mark) changed.add(path);
    for (const path of known.keys()) if (!files.has(path)) changed.add(path);
    known = files;
    follow(places);
    if (changed.size > 0) waiting?.();
  }

  function follow(places: ReadonlySet<string>) {
    for (const [place, watcher] of watchers) {
      if (places.has(place)) continue;
      watcher.close();
      watchers.delete(place);
    }
    for (const place of places) {
      if (watchers.has(place)) continue;
      try {
        // A folder that is taken away while it is watched is an event too.
        watchers.set(place, watch(join(root, place), hint).on('error', hint));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        hint();
      }
    }
  }

  look();
  changed.clear();
  return {
    get pending() {
      if (timer !== undefined) {
        clearTimeout(timer);
        look();
      }
      return changed.size > 0;
    },
    async next() {
      if (changed.size === 0) await new Promise<void>((resolve) => (waiting = resolve));
      waiting = undefined;
      const paths = [...changed].sort();
      changed.clear();
      return { paths, at };
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

const endings = /\.(yaml|md|ts|css|js|json)$/;

/** Every file with a mark that a save changes, and every folder. */
function scan(root: string, folders: readonly string[]) {
  const files = new Map<string, string>();
  const places = new Set<string>();
  const waiting = [...folders];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const entries = readFolder(join(root, place));
    if (entries === undefined) continue;
    places.add(place);
    for (const entry of entries) {
      const path = `${place}/${entry.name}`;
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || entry.name === 'dist') continue;
      if (entry.isDirectory()) waiting.push(path);
      else if (endings.test(entry.name)) {
        const { mtimeMs, size, ino } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
        if (size !== undefined) files.set(path, `${mtimeMs} ${size} ${ino}`);
      }
    }
  }
  return { files, places };
}

/** Undefined when it has just gone. */
function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
