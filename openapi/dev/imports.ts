import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** Which files of ours import which. Paths are below the root, with slashes. */
export interface Imports {
  /** Reads files again, or for the first time; those that are gone import nothing. */
  read(paths: Iterable<string>): void;
  /** The files that import one of these themselves. */
  direct(paths: Iterable<string>): Set<string>;
  /** These files and all that depend on them. */
  dependents(paths: Iterable<string>): Set<string>;
}

// In this house every import of our own is relative and names its file.
const relativeImport = /(?:from|import|import\()\s*'(\.[^']+)'/g;

export function createImports(root: string): Imports {
  const importsOf = new Map<string, string[]>();
  const importersOf = new Map<string, Set<string>>();

  const read = (path: string) => {
    for (const name of importsOf.get(path) ?? []) importersOf.get(name)?.delete(path);
    const names = [...textOf(join(root, path)).matchAll(relativeImport)].flatMap(([, name = '']) =>
      declared(join(dirname(path), name)),
    );
    importsOf.set(path, names);
    for (const name of names) {
      const importers = importersOf.get(name) ?? new Set();
      importersOf.set(name, importers.add(path));
    }
  };

  const direct = (paths: Iterable<string>) =>
    new Set([...paths].flatMap((path) => [...(importersOf.get(path) ?? [])]));

  return {
    read: (paths) => [...paths].forEach(read),
    direct,
    dependents(paths) {
      const found = new Set(paths);
      for (const path of found) for (const importer of importersOf.get(path) ?? []) found.add(importer);
      return found;
    },
  };
}

/** A script's types stand in the declarations beside it. */
const declared = (path: string) => (path.endsWith('.js') ? [path, path.replace(/\.js$/, '.d.ts')] : [path]);

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
