/** Words that names are put together from, in the form they have inside a name. Read by known-names.ts, which says how. */
export const ELEMENTS = `
राज raj | राम ram rama | देव dev | नाथ nath | पाल pal | लाल lal | दास das | चंद chand | चंद्र chandra
कुमार kumar | प्रसाद prasad | कांत kant | कांता kanta | लता lata latha | माला mala | माया maya | मती mati
वती vati wati | देवी devi | बाई bai | बेन ben | भाई bhai | राव rao | अप्पा appa | अम्मा amma | अन्ना anna
स्वामी swamy swami | कृष्ण krishna | कृष्णन krishnan | लक्ष्मी lakshmi laxmi | दीप deep | प्रीत preet
जीत jeet jit | इंदर inder | बीर bir | वीर veer vir | वंत want vant | वंती wanti | जोत jot | लीन leen
मीत meet | शरण sharan | चरण charan | करण karan | सिमरन simran | प्रकाश prakash | मोहन mohan
किशोर kishore kishor | गोपाल gopal | नारायण narayan | शंकर shankar sankar | नंदन nandan | वर्धन vardhan
रंजन ranjan | भूषण bhushan | भान bhan | भानु bhanu | प्रताप pratap | बहादुर bahadur | सिंह singh
उद्दीन uddin | उल्लाह ullah | दीन din deen | रहमान rahman | करीम karim | रहीम rahim | सलाम salam
जब्बार jabbar | सत्तार sattar | गफ़्फ़ार ghaffar gaffar | मजीद majeed | कादिर qadir | नासिर nasir
हक haq hak | निसा nisa | उन्निसा unnisa | बानो bano | बेगम begum | बीबी bibi | जहां jahan | ज़मान zaman
आलम alam | अली ali | बख्श bakhsh | खान khan | वाल wal | वालिया walia | वाला wala | कर kar | गांवकर gaonkar
पुरकर purkar | नगर nagar | पुर pur | पुरी puri | गढ़ garh | श्री shree shri sri sree | बाला bala
रानी rani | कुमारी kumari | कला kala | प्रभा prabha | प्रेम prem | सुख sukh | रूप roop rup
स्वरूप swaroop | ज्ञान gyan | धर्म dharm | धरम dharam | करम karam | परम param | सत्य satya | सूर्य surya
इंद्र indra | विजय vijay | जय jaya | शिव shiv | हरि hari | गौरी gauri | गंगा ganga | यमुना yamuna
जमुना jamuna | माता mata | पिता pita | बाबा baba | दादा dada | काका kaka | नाना nana | राजा raja
राणा rana | महा maha | भाग bhag | भाग्य bhagya | सौभाग्य saubhagya | मोती moti | हीरा heera hira
पन्ना panna | माणिक manik | रत्न ratna | मणि mani | सोना sona | चांदी chandi | रूपा roopa | फूल phool phul
कमल kamal | गुलाब gulab | पुष्प pushpa | कुसुम kusum | पद्म padma | नलिनी nalini | कुमुदिनी kumudini
सुंदर sundar sunder | सुंदरी sundari | मधु madhu | मधुर madhur | कोमल komal | विमल vimal | निर्मल nirmal
अमल amal | शीतल shital | शांति shanti | शांत shanta | आनंद ananda anand | सुखी sukhi | खुशी khushi
हंसा hansa | हंस hans | मोर mor | कोयल koyal | शेर sher | सिंघल singhal | बाग bagh | सागर sagar
गणेश ganesh | महेश mahesh | उमेश umesh | रमेश ramesh | सुरेश suresh | नरेश naresh | दिनेश dinesh
मुकेश mukesh | राजेश rajesh | कमलेश kamlesh | विमलेश vimlesh | ईश्वर ishwar | परमेश्वर parmeshwar
परमात्मा paramatma | आत्मा atma | महात्मा mahatma | विद्या vidya | वैद्य vedya | वेद ved | गीता gita geeta
संगीत sangeet | कवि kavi | कवित kavit | कथा katha | स्मृति smriti | श्रुति shruti | कीर्ति kirti
मूर्ति murti murthy | शक्ति shakti | भक्ति bhakti | मुक्ति mukti | प्रीति priti | नीति niti | रीति riti
ज्योति jyoti | तृप्ति tripti | प्रकृति prakriti | संस्कृति sanskriti | आकृति akriti | आशा asha
दिशा disha | निशा nisha | उषा usha | भाषा bhasha | अभिलाषा abhilasha | ईशा isha | मनीषा manisha
दीक्षा diksha | शिक्षा shiksha | रक्षा raksha | वर्षा varsha | हर्षा harsha | बरसा barsha
प्रतीक्षा pratiksha | आकांक्षा akanksha | समीक्षा samiksha | परीक्षा pariksha | साक्षी sakshi
पक्षी pakshi | मीनाक्षी minakshi | कामाक्षी kamakshi | आकाश akash | विकास vikas | विश्वास vishwas
प्रयास prayas | इतिहास itihas | उल्लास ullas | विलास vilas | कैलाश kailash | अविनाश avinash | नाश nash
सुभाष subhash | आभास abhas | शुभ shubh | लाभ labh | सौरभ saurabh | गर्व garv | गौरव gaurav | वैभव vaibhav
माधव madhav | केशव keshav | राघव raghav | यादव yadav | पांडव pandav | मानव manav | दानव danav
प्रणव pranav | अर्णव arnav | विनय vinay | तनय tanay | संजय sanjay | अजय ajay | अभय abhay | उदय uday
हृदय hriday | अक्षय akshay | चिन्मय chinmay | मृण्मय mrinmay | तन्मय tanmay | मन्मय manmay | मरण maran
किरण kiran | अरुण arun | वरुण varun | तरुण tarun | करुण karun | निपुण nipun | फ़ाल्गुन falgun
अर्जुन arjun | मिथुन mithun | गुण gun | गुणा guna | सगुण sagun | दर्शन darshan | सुदर्शन sudarshan
भवन bhavan | पवन pavan | जीवन jeevan | रतन ratan | चेतन chetan | केतन ketan | सनातन sanatan | पूरन puran
चंदन chandan | वंदन vandan | मंडन mandan | कुंदन kundan | मदन madan | सदन sadan | वदन vadan | रमण ramana
राजन rajan | साजन sajan | भजन bhajan | अंजन anjan | मंजन manjan | निरंजन niranjan | शर्मा sharma
वर्मा varma | धर्मा dharma | कर्मा karma | प्रेमा prema | हेमा hema | उमा uma | सीमा sima | श्यामा shyama
भीमा bhima | नीलिमा neelima | पूर्णिमा purnima | प्रतिमा pratima | महिमा mahima | गरिमा garima
लालिमा lalima | कालिमा kalima | करिश्मा karishma | रेशमा reshma | नजमा najma | सलमा salma | फ़ातमा fatma
संगम sangam | शबनम shabnam | पूनम poonam | सोनम sonam | नीलम neelam | रेहम reham | गौतम gautam
प्रीतम pritam | उत्तम uttam | अनुपम anupam | सत्यम satyam | शिवम shivam | सुंदरम sundaram | शुभम shubham
`;
