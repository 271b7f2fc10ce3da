import { command } from './command.ts';

/** `reload`: applies a changed configuration file. */
export const reloadCommand = command({
  description: 'apply a changed configuration file on this gateway',
  options: { 'dry-run': { description: 'only list what would change' } },
  examples: ['reload --dry-run', 'reload'],
  async run({ client, options, output, signal }) {
    const reload = await client.admin.reload({ dry_run: options['dry-run'] }, { signal });
    const { file, applied, revision, settings, needs_restart, warnings } = reload;
    const kinds = ['channels', 'groups', 'prices'] as const;
    const changes = kinds.flatMap((kind) =>
      (['added', 'removed', 'changed'] as const).map((action) => [
        `${kind} ${action}`,
        reload[kind][action].join(', '),
      ]),
    );
    const fields = {
      file: file ?? 'none',
      applied,
      revision,
      ...(Object.fromEntries(changes) as Record<string, string>),
    };
    const more = { settings: settings.join(', '), 'needs a restart': needs_restart.join(', ') };
    output.fields({ ...fields, ...more }, reload);
    for (const warning of warnings) output.note(`warning: ${warning}`);
  },
});
