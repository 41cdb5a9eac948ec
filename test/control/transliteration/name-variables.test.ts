import t from 'tap';
import { deriveNameVariables, NAME_FIELDS } from '../../../src/control/runtime-config/variables.ts';

t.test('R83 of the six name fields the first that holds a name wins', async (t) => {
  t.same(NAME_FIELDS, ['CUSTOMERNAME', 'name', 'customer_name', 'borrower_name', 'farmer_name', 'FIRSTNAME']);
  const given = ['Rajesh', 'Sunita', 'Mohan', 'Kavita', 'Suresh', 'Anil'];
  for (const [index, field] of NAME_FIELDS.entries()) {
    // Written in the opposite order, so that the order of the list decides and not the order of the fields.
    const fields = Object.fromEntries(
      NAME_FIELDS.map((name, at) => [name, given[at]])
        .slice(index)
        .reverse(),
    );
    const derived = deriveNameVariables(fields);
    t.equal(derived['crm.FIRSTNAME'], given[index], field);
    t.ok(`call.${field}_hi` in derived, `${field} names the call variables`);
  }
});

t.test('R84 a name brings six variables', async (t) => {
  t.same(deriveNameVariables({ borrower_name: ' Rajesh Kumar ', amount: 12 }), {
    'crm.CUSTOMERNAME_HI': 'राजेश कुमार',
    'crm.FIRSTNAME': 'Rajesh',
    'crm.FIRSTNAME_HI': 'राजेश',
    'call.borrower_name_hi': 'राजेश कुमार',
    'call.borrower_name_firstname': 'Rajesh',
    'call.borrower_name_firstname_hi': 'राजेश',
  });
  t.equal(Object.keys(deriveNameVariables({ FIRSTNAME: 'Asha' })).length, 6);
});

t.test('R83 a field without a name is passed over', async (t) => {
  for (const empty of ['', '  ', null, undefined, 42, {}, ['Asha'], '---', '98765']) {
    t.equal(deriveNameVariables({ CUSTOMERNAME: empty, farmer_name: 'Asha' })['call.farmer_name_hi'], 'आशा');
    t.same(deriveNameVariables({ CUSTOMERNAME: empty }), {});
  }
  t.same(deriveNameVariables({}), {});
  t.same(deriveNameVariables({ customername: 'Asha', Name: 'Asha' }), {}, 'fields are told apart by case');
  t.same(deriveNameVariables(Object.create({ name: 'Asha' })), {}, 'inherited fields are none');
});

t.test('a name that is in Devanagari already is kept', async (t) => {
  const derived = deriveNameVariables({ name: 'राजेश कुमार' });
  t.equal(derived['crm.CUSTOMERNAME_HI'], 'राजेश कुमार');
  t.equal(derived['crm.FIRSTNAME'], 'राजेश');
  t.equal(derived['call.name_firstname_hi'], 'राजेश');
});
