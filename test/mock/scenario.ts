import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import { Failure } from '../../server/lib/failure.ts';
import { type Behavior, Behaviors, type Scope, scopeOf } from './behaviors.ts';

/** Saved settings of the mock: a `Behavior` for each operation, or for `all`. */
export type Scenario = ReadonlyMap<Scope, Behavior>;

/** Reads a scenario file in YAML. @throws Error that names the file and the field */
export async function readScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`--scenario ${file} is not a readable file`);
  });
  const behaviors = new Behaviors();
  try {
    const settings = parse(text) as Json;
    if (!isObject(settings)) throw new Error('must contain an object of operations.');
    for (const [scope, value] of Object.entries(settings)) setBehavior(behaviors, scope, value);
  } catch (error) {
    throw new Error(`--scenario ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return behaviors.all;
}

function setBehavior(behaviors: Behaviors, scope: string, value: Json | undefined): void {
  try {
    behaviors.set(scopeOf(scope), value);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Error(`${scope}: ${error.message}`, { cause: error });
  }
}
