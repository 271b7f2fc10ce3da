import type { ColumnDataType, ColumnDefinitionBuilder, Kysely } from 'kysely';

export type Engine = 'sqlite' | 'postgres';

/** What differs between the engines when a table is made. Everything else is written once. */
export interface MigrationContext {
  readonly engine: Engine;
  /** The type and constraints of an `id` column that numbers its rows and never gives a number twice. */
  readonly autoId: {
    readonly type: ColumnDataType;
    readonly build: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
  };
}

/**
 * One step of the schema, forward only, in one transaction with the record of its having run. It sees no
 * table types: those of the program are today's, not the step's.
 */
export type Migration = (db: Kysely<unknown>, context: MigrationContext) => Promise<void>;

export function migrationContext(engine: Engine): MigrationContext {
  return {
    engine,
    autoId:
      engine === 'sqlite'
        ? { type: 'integer', build: (column) => column.primaryKey().autoIncrement() }
        : { type: 'bigserial', build: (column) => column.primaryKey() },
  };
}
