/** Names of Sikhs. Read by known-names.ts, which says how. */
export const SIKH = `
अमनदीप amandeep amndeep amandip | अमनप्रीत amanpreet amanprit amanpret | अमरिंदर amarinder
अमरजीत amarjeet amarjit amarjeeth | अमृतपाल amritpal | अर्शदीप arshdeep | अवतार avtar | बाजवा bajwa
बलदीप baldeep | बलबीर balbir | बलजीत baljeet baljit baljith | बलजिंदर baljinder | बलकार balkar
बलविंदर balvinder balwinder ballvinder | भगवंत bhagwant | भट्टी bhatti | भुल्लर bhullar
भूपिंदर bhupinder | बिक्रम bikram | बिंदर binder | बराड़ brar | चहल chahal | चरणजीत charanjeet charanjit
चट्ठा chatha | चीमा cheema | दलजीत daljeet daljit | दलबीर dalbir | दरबारा darbara
देविंदर davinder devinder | धालीवाल dhaliwal | दिलजीत diljit diljeet | दिलप्रीत dilpreet
गगनदीप gagandeep gagandip gagndeep | ग्रेवाल grewal | गुलज़ार gulzar | गुरबचन gurbachan | गुरचरण gurcharan
गुरदास gurdas | गुरदीप gurdeep gurdip goordeep | गुरदियाल gurdial | गुरिंदर gurinder
गुरजीत gurjeet gurjit | गुरलीन gurleen | गुरमीत gurmeet gurmit gurmeeth | गुरमुख gurmukh | गुरनाम gurnam
गुरप्रीत gurpreet gurprit gurpret | गुरशरण gursharan | गुरविंदर gurvinder gurwinder | हरबंस harbans
हरभजन harbhajan | हरदीप hardeep hardip | हार्दिक hardik | हरगोबिंद hargobind | हरिंदर harinder
हरजीत harjeet harjit harjeeth | हरलीन harleen | हरमन harman | हरमीत harmeet harmit | हरपाल harpal
हरप्रीत harpreet harprit harpret herpreet | हरसिमरन harsimran | हरविंदर harvinder harwinder | इंदर inder
इंदरजीत inderjeet inderjit inderjith | जगजीत jagjeet jagjit jagjith | जगमोहन jagmohan | जगतार jagtar
जरनैल jarnail | जसबीर jasbir jasbeer | जसवीर jasveer jasvir | जसदीप jasdeep | जसलीन jasleen | जसपाल jaspal
जसप्रीत jaspreet jasprit | जसविंदर jasvinder jaswinder | जसवंत jaswant jasvant jaswanth | जतिंदर jatinder
जीतू jeetu jitu | जोगिंदर joginder | कंवलजीत kanwaljit kanwaljeet | करमजीत karamjit karamjeet
करतार kartar | कौर kaur kour kor | खुशवंत khushwant | किरपाल kirpal | कुलबीर kulbir
कुलजीत kuljeet kuljit kuljith | कुलवंत kulwant kulvant | कुलविंदर kulwinder | लखबीर lakhbir
लखविंदर lakhwinder lakhvinder | लवप्रीत lovepreet | मनदीप mandeep mandeap | मनिंदर maninder
मंजीत manjeet manjit manjith | मनमीत manmeet | मनमोहन manmohan | मनप्रीत manpreet manprit manpret
मोहिंदर mohinder | नरिंदर narinder | नवदीप navdeep navdip | नवजोत navjot | नवप्रीत navpreet
निर्मलजीत nirmaljit | परमजीत paramjeet paramjit parmjeet parmjit | परमिंदर parminder | परनीत parneet
प्रभजोत prabhjot | प्रभदीप prabhdeep | राजिंदर rajinder | राजविंदर rajwinder | रमनदीप ramandeep ramandip
रंधावा randhawa | रणधीर randhir | रणजोध ranjodh | रविंदर ravinder | रुपिंदर rupinder
संधू sandhu sandhoo sandu | सरन saran | सरबजीत sarabjit sarabjeet | सतिंदर satinder | सतनाम satnam
सतपाल satpal | सतवंत satwant | सेखों sekhon | सिद्धू sidhu siddhu sidhoo | सिमरन simran simren simrun
सिमरनजीत simranjeet simranjit | सुखबीर sukhbir | सुखदीप sukhdeep | सुखजिंदर sukhjinder
सुखजीत sukhjit sukhjeet | सुखप्रीत sukhpreet | सुखवंत sukhwant | सुखविंदर sukhwinder sukhvinder
सुरिंदर surinder | सुरजीत surjeet surjit surjith | स्वर्ण swaran | तरलोचन tarlochan
तेजिंदर tejinder tajinder | उपिंदर upinder | वरिंदर varinder | यादविंदर yadvinder | बलवीर balveer balvir
बलबिंदर balbinder | गुरबिंदर gurbinder | हरबिंदर harbinder | जसबिंदर jasbinder | नबदीप nabdeep
राजबिंदर rajbinder | सुखबिंदर sukhbinder
`;
