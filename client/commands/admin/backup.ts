import { printAudit } from './audit.ts';
import { command, requireDatabase } from './command.ts';

/** `backup`: copies the SQLite database and audits the copy. */
export const backupCommand = command({
  description:
    'copy the SQLite database of DATA_DIR to a new file, even while the gateway runs, and audit the copy (npm run admin only)',
  argument: 'FILE',
  options: {},
  examples: ['backup /var/backups/unigate-2026-11-26.db', 'backup unigate.db --json'],
  async run(call) {
    const copy = await requireDatabase(call, 'backup').backUp(call.text);
    const { file, bytes, audit } = copy;
    if (audit !== null) printAudit(call.output, audit, { before: { file, bytes }, data: copy });
    else {
      call.output.fields({ file, bytes }, copy);
      call.output.note(
        'The copy is complete. Its ledger was not audited, because the database is of an older version.',
      );
    }
  },
});
