/** Changelog section of a version without its heading. Undefined if it is missing or empty. */
export function changelogSection(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(`[${version}]`));
  return own?.slice(own.indexOf('\n')).trim() || undefined;
}
