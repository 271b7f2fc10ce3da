/** What stands below the heading of a version, without the heading; undefined when there is no such heading or nothing. */
export function changelogSection(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(`[${version}]`));
  return own?.slice(own.indexOf('\n')).trim() || undefined;
}
