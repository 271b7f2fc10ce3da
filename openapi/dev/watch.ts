import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Writes within this time count as one save. */
const debounceMs = 40;

interface Save {
  /** Changed, created and deleted files, relative to the root, with slashes. */
  paths: string[];
  /** Time of the last change, from `performance.now()`. */
  at: number;
}

export interface Watch {
  /** True if there is a save that `next` has not returned. */
  readonly pending: boolean;
  /** Returns the files saved since the last call. Waits for a save if there is none. */
  next(): Promise<Save>;
  close(): void;
}

/**
 * Watches the contract and code files in folders of `root`. System notifications only trigger a scan. The scan compares
 * time, size and inode, so it handles concurrent saves and editors that write by rename.
 */
export function watchFiles(root: string, folders: readonly string[]): Watch {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let previous = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let resume: (() => void) | undefined;

  let at = 0;

  const scheduleRescan = () => {
    at = performance.now();
    clearTimeout(timer);
    timer = setTimeout(rescan, debounceMs);
  };

  function rescan() {
    timer = undefined;
    const { files, places } = scan(root, folders);
    for (const [path, mark] of files) if (previous.get(path) !== mark) changed.add(path);
    for (const path of previous.keys()) if (!files.has(path)) changed.add(path);
    previous = files;
    watchFolders(places);
    if (changed.size > 0) resume?.();
  }

  function watchFolders(places: ReadonlySet<string>) {
    for (const [place, watcher] of watchers) {
      if (places.has(place)) continue;
      watcher.close();
      watchers.delete(place);
    }
    for (const place of places) {
      if (watchers.has(place)) continue;
      try {
        // The deletion of a watched folder is an error event.
        watchers.set(place, watch(join(root, place), scheduleRescan).on('error', scheduleRescan));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        scheduleRescan();
      }
    }
  }

  rescan();
  changed.clear();
  return {
    get pending() {
      if (timer !== undefined) {
        clearTimeout(timer);
        rescan();
      }
      return changed.size > 0;
    },
    async next() {
      if (changed.size === 0) await new Promise<void>((resolve) => (resume = resolve));
      resume = undefined;
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

/** Lists all folders, and all files with a mark that every save changes. */
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

/** Undefined if the folder was just deleted. */
function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
