import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('clips')
    .addColumn('id', 'text', (col) => col.primaryKey())
    // Whoever forgets a task, forgets its clips.
    .addColumn('task_id', 'text', (col) => col.notNull().references('tasks.id').onDelete('cascade'))
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('upstream_id', 'text', (col) => col.notNull())
    .addColumn('upstream_task_id', 'text', (col) => col.notNull())
    .execute();
  await db.schema.createIndex('clips_task').on('clips').column('task_id').execute();
};
