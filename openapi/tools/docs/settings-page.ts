import { isObject, type JsonObject, objects, strings, text } from '../document.ts';
import { prose } from './markdown-text.ts';
import { typeOf } from './schema-table.ts';

/** Returns the settings of the configuration file as Markdown, with a heading for each. */
export function settingsMarkdown(schema: JsonObject): string {
  return `# Settings

The settings of the configuration file, which \`CONFIG\` names. [Deployment](/docs/deployment) shows a complete file and
lists the environment variables.

${settingsOf(schema, '', 2).join('\n\n')}
`;
}

/** Returns a section for each property of a schema and of the schemas below it. */
function settingsOf(schema: JsonObject, prefix: string, level: number): string[] {
  const required = strings(schema.required);
  return objects(schema.properties).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const items = isObject(property.items) ? property.items : {};
    const values = isObject(property.additionalProperties) ? property.additionalProperties : {};
    const parts = [
      `${'#'.repeat(level)} \`${path}\` {#${path.replace(/[^\w.]+/g, '-')}}`,
      prose(text(property.description)),
      `Type: ${prose(typeOf(schema, property))}${required.includes(name) ? ', required' : ''}.`,
    ];
    return [
      parts.filter((part) => part !== '').join('\n\n'),
      ...settingsOf(property, `${path}.`, 3),
      ...settingsOf(items, `${path}[].`, 3),
      ...settingsOf(values, `${path}.NAME.`, 3),
    ];
  });
}
