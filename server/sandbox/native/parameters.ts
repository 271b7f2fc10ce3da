import { isObject, type JsonObject } from '../http/json-body.ts';
import { invalidParameter, type NativeError } from '../http/native-error.ts';

interface Range {
  min: number;
  max: number;
}

/**
 * Reads typed values from an object of a request body. An absent or null value returns the fallback. An invalid value
 * throws `InvalidParameter` with the full name of the field and its limits. Unknown fields are ignored.
 */
export class Parameters {
  readonly #values: JsonObject;
  readonly #path: string;

  constructor(values: JsonObject, path: string) {
    this.#values = values;
    this.#path = path;
  }

  /** Returns the nested object `name`, or undefined if it is absent. */
  object(name: string): Parameters | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!isObject(value)) throw this.invalid(name, 'must be an object');
    return new Parameters(value, this.#name(name));
  }

  requiredObject(name: string): Parameters {
    const value = this.object(name);
    if (!value) throw this.invalid(name, 'is required');
    return value;
  }

  /** Reads an object that is used as it is, such as a schema. */
  requiredJson(name: string): JsonObject {
    const value = this.#value(name);
    if (!isObject(value)) throw this.invalid(name, 'must be an object');
    return value;
  }

  string(name: string): string | undefined {
    const value = this.#value(name);
    if (value !== undefined && typeof value !== 'string') throw this.invalid(name, 'must be a string');
    return value;
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined || value === '') throw this.invalid(name, 'is required and must not be empty');
    return value;
  }

  number(name: string, { min, max }: Range, fallback: number): number {
    const value = this.#value(name) ?? fallback;
    if (typeof value !== 'number' || value < min || value > max) {
      throw this.invalid(name, `must be a number from ${min} to ${max}`);
    }
    return value;
  }

  integer(name: string, { min, max }: Range, fallback: number): number {
    const value = this.#value(name) ?? fallback;
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
      throw this.invalid(name, `must be an integer from ${min} to ${max}`);
    }
    return Number(value);
  }

  flag(name: string, fallback = false): boolean {
    const value = this.#value(name) ?? fallback;
    if (typeof value !== 'boolean') throw this.invalid(name, 'must be true or false');
    return value;
  }

  /** Reads a boolean. 0 and 1 are accepted as false and true. */
  flagOrBinary(name: string): boolean {
    const value = this.#value(name) ?? 0;
    if (value !== 0 && value !== 1 && typeof value !== 'boolean')
      throw this.invalid(name, 'must be 0, 1, true or false');
    return Boolean(value);
  }

  choice<Choice extends string | number>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    return this.optionalChoice(name, choices) ?? fallback;
  }

  optionalChoice<Choice extends string | number>(
    name: string,
    choices: readonly Choice[],
  ): Choice | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw this.invalid(name, `must be one of ${choices.join(', ')}`);
    return found;
  }

  list(name: string): readonly unknown[] {
    const value = this.#value(name) ?? [];
    if (!Array.isArray(value)) throw this.invalid(name, 'must be an array');
    return value;
  }

  /** Reads an array of objects with at most `max` members. */
  objects(name: string, max: number): Parameters[] {
    const items = this.list(name);
    if (items.length > max) throw this.invalid(name, `must not have more than ${max} members`);
    return items.map((item, index) => {
      if (!isObject(item)) throw this.invalid(`${name}[${index}]`, 'must be an object');
      return new Parameters(item, this.#name(`${name}[${index}]`));
    });
  }

  /** Reads a required string that matches `pattern`. `rule` describes the pattern. */
  pattern(name: string, pattern: RegExp, rule: string): string {
    const value = this.requiredString(name);
    if (!pattern.test(value)) throw this.invalid(name, `must be ${rule}`);
    return value;
  }

  /** Reads a required string of at most `max` characters. */
  limitedString(name: string, max: number): string {
    const value = this.requiredString(name);
    if (Array.from(value).length > max) throw this.invalid(name, `must not be longer than ${max} characters`);
    return value;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#values).length === 0;
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** Creates the error for the field `name`. `problem` follows the field name in the message. */
  invalid(name: string, problem: string): NativeError {
    const field = this.#name(name);
    return invalidParameter(`${field} ${problem}`, field);
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  #name(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}
