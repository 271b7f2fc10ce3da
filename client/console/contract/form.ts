import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { APIError } from '../../index.ts';
import type { Contract, Schema } from './contract.ts';
import { problemOf } from './problem.ts';

export type JsonObject = { [name: string]: unknown };

/**
 * The state of a form for a schema of the contract. Fields are addressed by path: `metadata.parameters.seed`. An empty
 * field is not part of the body.
 */
export class Form {
  readonly contract: Contract;
  readonly schema: Schema;
  readonly #values = signal<JsonObject>({});
  /** Messages by path: those of the last submit, and of the gateway. */
  readonly #problems = signal<Readonly<Record<string, string>>>({});
  /** Paths of the fields that the form shows. */
  readonly #shown = new Set<string>();

  /** Number of times that all fields were checked. */
  readonly checks = signal(0);

  /** The request body. */
  readonly body: ReadonlySignal<JsonObject> = computed(() => this.#values.value);

  constructor(contract: Contract, schema: Schema, initial: JsonObject = {}) {
    this.contract = contract;
    this.schema = schema;
    this.#values.value = initial;
  }

  /** Returns the schema of a field. Throws if the contract has no such field. */
  schemaAt(path: string): Schema {
    const found = this.contract.at(this.schema, path.split('.'));
    if (found === undefined) throw new Error(`The contract has no field ${path}.`);
    return found;
  }

  /** Returns an independent form with the same values. */
  copy(): Form {
    return new Form(this.contract, this.schema, this.#values.value);
  }

  isRequired(path: string): boolean {
    const names = path.split('.');
    const parent = this.contract.at(this.schema, names.slice(0, -1));
    return parent?.required?.includes(names.at(-1) ?? '') ?? false;
  }

  /** Returns the value of a field. Undefined while it is empty. */
  get(path: string): unknown {
    return path
      .split('.')
      .reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], this.#values.value);
  }

  /** Returns the value of a text field. Empty while it has none. */
  text(path: string): string {
    const value = this.get(path);
    return typeof value === 'string' ? value : '';
  }

  /** Sets a field. Undefined or an empty text removes it. */
  set(path: string, value: unknown): void {
    this.#values.value = withValue(this.#values.peek(), path.split('.'), value === '' ? undefined : value);
    if (this.#problems.peek()[path] !== undefined) this.check(path);
  }

  /** Checks one field against its schema and shows the problem. */
  check(path: string): boolean {
    const problem = problemOf(this.schemaAt(path), this.get(path), this.isRequired(path));
    const { [path]: _, ...others } = this.#problems.peek();
    this.#problems.value = problem === undefined ? others : { ...others, [path]: problem };
    return problem === undefined;
  }

  /** Checks all fields that the form shows. Returns whether the form can be submitted. */
  checkAll(): boolean {
    this.checks.value += 1;
    return [...this.#shown].map((path) => this.check(path)).every(Boolean);
  }

  /**
   * Shows an error of the gateway at the field that it names, or at the field that contains it. Returns whether the form
   * shows that field.
   */
  reject(error: unknown): boolean {
    if (!(error instanceof APIError)) return false;
    const path = this.#shownPath(fieldNamedBy(error));
    if (path === undefined) return false;
    this.#problems.value = { ...this.#problems.peek(), [path]: error.message };
    return true;
  }

  /** Returns the longest path of a shown field that contains `path`: `tools` for `tools.0.name`. */
  #shownPath(path: string): string | undefined {
    if (path === '' || this.#shown.has(path)) return path || undefined;
    return this.#shownPath(path.split('.').slice(0, -1).join('.'));
  }

  problem(path: string): string | undefined {
    return this.#problems.value[path];
  }

  /** Registers a field while the form shows it. Returns a function that removes it. */
  show(path: string): () => void {
    this.#shown.add(path);
    return () => this.#shown.delete(path);
  }
}

/** Errors of messages and management have no `param`: their message begins with the field and a colon. */
const fieldNamedBy = ({ param, message }: APIError) => param ?? /^([^\s:]+): /.exec(message)?.[1] ?? '';

function withValue(object: JsonObject, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const { [name]: old, ...others } = object;
  const next = rest.length === 0 ? value : withValue((old as JsonObject | undefined) ?? {}, rest, value);
  const isEmpty = next === undefined || (rest.length > 0 && Object.keys(next as JsonObject).length === 0);
  if (isEmpty) return others;

  return { ...object, [name]: next };
}
