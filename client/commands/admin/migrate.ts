import { printAudit } from './audit.ts';
import { command, requireDatabase } from './command.ts';

/** `migrate`: copies the SQLite database to PostgreSQL and verifies the copy. */
export const migrateCommand = command({
  description:
    'copy the SQLite database of DATA_DIR to an empty PostgreSQL database, while the gateway is stopped (npm run admin only)',
  options: {
    to: { argument: 'URL', description: 'postgres://… of the target; default: DATABASE_URL' },
  },
  examples: ['migrate --to postgres://unigate@db.example/unigate', 'migrate --json'],
  async run(call) {
    const { options, output, signal } = call;
    const copy = await requireDatabase(call, 'migrate').migrate(options.to, signal);
    const counts = Object.values(copy.rows);
    const rows = counts.reduce((total, count) => total + count, 0);
    printAudit(output, copy.audit, { before: { tables: counts.length, rows }, data: copy });
  },
});
