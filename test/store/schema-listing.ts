import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onServer, type TestStore } from './engines.ts';

/**
 * Lists the columns, constraints, indexes, triggers and functions of a database, one a line, sorted. The order of columns does not
 * matter.
 */
export async function listSchema({ engine, options }: TestStore): Promise<string[]> {
  const lines =
    engine === 'sqlite' ? listSqlite(options.dataDir) : await listPostgres(String(options.schema));
  return lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()).sort();
}

function listSqlite(dataDir: string): string[] {
  const file = new DatabaseSync(join(dataDir, 'unigate.db'), { readOnly: true });
  const list = (query: string) =>
    file
      .prepare(query)
      .all()
      .map(({ line }) => String(line));
  const lines = [
    ...list(`
      select 'column ' || t.name || '.' || c.name || ' ' || lower(c.type) || case when c."notnull" then ' not null' else '' end
        || coalesce(' default ' || c.dflt_value, '') || case when c.pk > 0 then ' key ' || c.pk else '' end as line
      from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite_%'`),
    ...list(`
      select 'reference ' || t.name || '.' || f."from" || ' ' || f."table" || ' ' || f.on_delete as line
      from sqlite_schema t, pragma_foreign_key_list(t.name) f where t.type = 'table'`),
    ...list(`
      select 'index ' || t.name || ' ' || case when i.origin = 'c' then i.name else i.origin end || ' ' || i."unique" || ' '
        || (select group_concat(c.name) from pragma_index_info(i.name) c) || ' '
        || case when instr(x.sql, ' where ') > 0 then substr(x.sql, instr(x.sql, ' where ')) else '' end as line
      from sqlite_schema t, pragma_index_list(t.name) i left join sqlite_schema x on x.name = i.name where t.type = 'table'`),
    ...list(`select sql as line from sqlite_schema where type = 'trigger'`),
    ...list(
      `select sql as line from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
    ).flatMap((sql) => [...sql.matchAll(/constraint "?(\w+)"? check/gi)].map(([, name]) => `check ${name}`)),
  ];
  file.close();
  return lines;
}

function listPostgres(schema: string): Promise<string[]> {
  return onServer(async (client) => {
    await client.query(`set search_path = ${schema}`);
    const list = async (query: string) => {
      const { rows } = await client.query<{ line: string }>(query, [schema]);
      return rows.map(({ line }) => line);
    };
    return [
      ...(await list(`
        select concat_ws(' ', 'column', table_name || '.' || column_name, data_type, 'null ' || is_nullable, column_default) as line
        from information_schema.columns where table_schema = $1`)),
      ...(await list(`
        select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line
        from pg_constraint where connamespace = $1::regnamespace and contype <> 'n'`)),
      ...(await list(`select indexdef as line from pg_indexes where schemaname = $1`)),
      ...(await list(`
        select concat_ws(' ', 'table', relname, relkind, relpersistence, reloptions::text, pg_get_partkeydef(oid),
          pg_get_expr(relpartbound, oid)) as line
        from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p')`)),
      ...(await list(`
        select concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid)) as line from pg_trigger
        where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = $1::regnamespace)`)),
      ...(await list(`
        select pg_get_functiondef(oid) as line from pg_proc where pronamespace = $1::regnamespace`)),
    ].map((line) => line.replaceAll(schema, 'schema'));
  });
}
