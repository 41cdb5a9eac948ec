// Writes src/slot/call/runtime-config-shape.ts from the schema of src/contracts/runtime-config.ts, so that a slot
// checks a config without loading the schema library. Run it after a change of the schema:
//
//   ./trunkline node setup/config-shape.mjs
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as contract from '../src/contracts/runtime-config.ts';
import { PROJECT } from './run-command.mjs';

const OUTPUT = 'src/slot/call/runtime-config-shape.ts';

/** What a call cannot do without. A foreign plane may leave out everything else, or serve null for it. */
const DEMANDED = new Set(['session_id', 'webhook_url', 'stt', 'llm', 'tts']);

/**
 * The schema of what a slot reads: JSON Schema of the contract, in which only these fields must be there: DEMANDED, the
 * name of each provider, and what an entry of a list is made of. Unknown fields fit everywhere.
 */
export function readSchema() {
  return relaxed(JSON.parse(JSON.stringify(contract.RuntimeConfig)), (name) => DEMANDED.has(name));
}

function relaxed(schema, isDemanded) {
  const { type, properties, items, anyOf } = schema;
  if (anyOf) return { anyOf: anyOf.map((each) => relaxed(each, isDemanded)) };
  if (type === 'array') return { ...schema, items: relaxed(items, () => true) };
  if (!properties) return schema;
  const required = (schema.required ?? []).filter((name) => name === 'provider' || isDemanded(name));
  const inner = Object.entries(properties).map(([name, each]) => {
    const read = relaxed(each, () => false);
    return [name, required.includes(name) ? read : { anyOf: [read, { type: 'null' }] }];
  });
  return { type, required, properties: Object.fromEntries(inner) };
}

/** The source of the checks, formatted like every other file. */
export function configShapeSource() {
  const named = new Map();
  const used = new Set();
  const call = (name, ...args) => {
    used.add(name);
    return `${name}(${args.filter((each) => each !== '').join(', ')})`;
  };
  const bare = (name) => {
    used.add(name);
    return name;
  };

  const shapeOf = (schema) => {
    const { type, properties, patternProperties, anyOf, items, const: literal } = schema;
    if (anyOf) {
      const others = anyOf.filter((each) => each.type !== 'null');
      if (others.length === 1) return shapeOf(others[0]);
      return call('literals', ...others.map((each) => JSON.stringify(literalOf(each))));
    }
    if (literal !== undefined) return call('literals', JSON.stringify(literalOf(schema)));
    switch (type) {
      case 'string':
        if ((schema.minLength ?? 0) > 1) throw new Error('shapes.ts knows no minLength beyond 1');
        return call('string', ...bounds(schema, 'minLength', 'maxLength'));
      case 'number':
      case 'integer':
        return call(type, ...bounds(schema, 'minimum', 'maximum'));
      case 'boolean':
        return bare('boolean');
      case 'array':
        return call('array', shapeOf(items), schema.maxItems ?? '');
      case 'object':
        return properties && !patternProperties ? objectOf(schema) : call('object', '{}', '{}');
      case undefined:
        return bare('unknown');
      default:
        throw new Error(`shapes.ts knows no ${type}`);
    }
  };
  const objectOf = (schema) => {
    const key = JSON.stringify(schema);
    const known = named.get(key);
    if (known) return known.name;
    const entries = (wanted) =>
      Object.entries(schema.properties)
        .filter(([name]) => schema.required.includes(name) === wanted)
        .map(([name, each]) => `${name}: ${shapeOf(each)}`);
    const source = call('object', `{${entries(true).join(',')}}`, `{${entries(false).join(',')}}`);
    const [name] = Object.entries(names).find(([, text]) => text === key) ?? [];
    if (!name) return source;
    named.set(key, { name, source });
    return name;
  };
  // The schemas that the contract exports keep their names; the rest stands where it is used.
  const names = Object.fromEntries(
    Object.entries(contract)
      .filter(([name]) => name !== 'RuntimeConfig')
      .map(([name, schema]) => [
        name[0].toLowerCase() + name.slice(1),
        JSON.stringify(relaxed(JSON.parse(JSON.stringify(schema)), () => false)),
      ]),
  );

  const whole = objectOf(readSchema());
  const consts = [...named.values()].map(({ name, source }) => `const ${name} = ${source};`);
  return formatted(
    [
      `import { ${[...used, 'type Shape'].sort().join(', ')} } from '../../platform/shapes.ts';`,
      '',
      '/** Written by setup/config-shape.mjs from src/contracts/runtime-config.ts; change the schema there, not this file. */',
      ...consts,
      '',
      `export const runtimeConfigShape: Shape = ${whole};`,
    ].join('\n'),
  );
}

function bounds(schema, low, high) {
  if (schema[high] === undefined) return [schema[low] ?? ''];
  return [schema[low] ?? (low === 'minLength' ? 0 : 'Number.NEGATIVE_INFINITY'), schema[high]];
}

function literalOf({ const: literal }) {
  if (typeof literal !== 'string') throw new Error('shapes.ts knows literals of text only');
  return literal;
}

function formatted(source) {
  const biome = join(PROJECT, 'node_modules/@biomejs/biome/bin/biome');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'check', '--write', `--stdin-file-path=${OUTPUT}`],
    { cwd: PROJECT, input: source, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(PROJECT, OUTPUT), configShapeSource());
}
